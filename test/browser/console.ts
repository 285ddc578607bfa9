import type { TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Locator } from 'playwright-core';
import { startConsole } from '../operator/console-browser.ts';
import { openVisit } from './chromium.ts';

/** Values by the start of the label of their field. In a list, the value names an option. */
type Entries = Readonly<Record<string, string>>;

/** A service with a browser that is signed in to its console. */
export type Desk = Awaited<ReturnType<typeof openDesk>>;

/** Starts a service and signs a browser in to its console. */
export async function openDesk(
  t: Pick<TestContext, 'after'>,
  browser: Browser,
  options: BrowserContextOptions = {},
) {
  const service = await startConsole(t);
  const visit = await openVisit(t, browser, options);
  const { page } = visit;
  await page.goto(`${service.consoleUrl}#sign-in=${await service.makeLink()}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const dialog = page.getByRole('dialog');

  /** Opens a page of the console, by the part of its URL after `#`, and waits until it is shown. */
  async function open(address: string, heading: string): Promise<void> {
    await page.goto(`${service.consoleUrl}#/${address}`);
    await arrive(heading);
  }

  /** Waits until the page with a heading is shown with its rows. */
  async function arrive(heading: string): Promise<void> {
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
    await page.getByText('Loading…').waitFor({ state: 'detached' });
  }

  const press = (button: string | RegExp) => page.getByRole('button', { name: button }).first().click();

  const see = (text: string | RegExp) => page.getByText(text).first().waitFor();

  /** Fills in the open dialog, and presses its button. */
  async function submit(entries: Entries, button: string | RegExp): Promise<void> {
    await fill(dialog, entries);
    await dialog.getByRole('button', { name: button }).click();
  }

  /**
   * Opens a dialog by a button, submits it and waits until the page shows `notice`. The dialog must first say `told`, if it
   * is given.
   */
  async function act(
    opener: string | RegExp,
    entries: Entries,
    button: string | RegExp,
    notice: string,
    told?: RegExp,
  ) {
    await press(opener);
    if (told !== undefined) await dialog.getByText(told).waitFor();
    await submit(entries, button);
    await see(notice);
  }

  async function filter(entries: Entries): Promise<void> {
    await fill(page.getByRole('main').getByRole('search'), entries);
    await press('Show');
  }

  const readRows = () => page.getByRole('row').allTextContents();

  return { ...service, ...visit, dialog, open, arrive, press, see, submit, act, filter, readRows };
}

async function fill(form: Locator, entries: Entries): Promise<void> {
  for (const [label, value] of Object.entries(entries)) {
    const field = form.getByLabel(new RegExp(`^\\s*${label}`));
    await field.waitFor();
    if ((await field.and(form.locator('select')).count()) > 0) await field.selectOption(value);
    else if ((await field.and(form.locator('[type=checkbox]')).count()) > 0) await field.check();
    else await field.fill(value);
  }
}
