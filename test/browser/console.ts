import type { TestContext } from 'node:test';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { type ConsoleService, startConsole } from '../operator/console-browser.ts';
import { openVisit, type Visit } from './chromium.ts';

/** A service with a browser that is signed in to its console. */
export interface Desk extends ConsoleService, Visit {
  /** Opens a page of the console, by the part of its URL after `#`, and waits for its heading. */
  open(address: string, heading: string): Promise<void>;
  /** Presses a button of the open dialog. */
  confirm(name: string | RegExp): Promise<void>;
}

/** Starts a service and signs a browser in to its console. */
export async function openDesk(
  t: Pick<TestContext, 'after'>,
  browser: Browser,
  options: BrowserContextOptions = {},
  settings: Record<string, string> = {},
): Promise<Desk> {
  const service = await startConsole(t, settings);
  const visit = await openVisit(t, browser, options);
  const { page } = visit;
  // A busy machine needs more time.
  page.setDefaultTimeout(120_000);
  await page.goto(`${service.consoleUrl}#sign-in=${await service.makeLink()}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return {
    ...service,
    ...visit,
    confirm: (name) => page.getByRole('dialog').getByRole('button', { name }).click(),
    async open(address, heading) {
      await page.goto(`${service.consoleUrl}#/${address}`);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await page.getByText('Loading…').waitFor({ state: 'detached' });
    },
  };
}
