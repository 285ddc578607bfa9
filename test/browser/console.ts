import type { TestContext } from 'node:test';
import type { Browser, BrowserContextOptions, Locator } from 'playwright-core';
import { type ConsoleService, startConsole } from '../operator/console-browser.ts';
import { openVisit, type Visit } from './chromium.ts';

/** Values by the start of the label of their field. In a list, the value names an option. */
type Entries = Readonly<Record<string, string>>;

/** A service with a browser that is signed in to its console. */
export interface Desk extends ConsoleService, Visit {
  /** The open dialog. */
  readonly dialog: Locator;
  /** Opens a page of the console, by the part of its URL after `#`, and waits for its heading. */
  open(address: string, heading: string): Promise<void>;
  press(button: string | RegExp): Promise<void>;
  /** Fills in the open dialog, and presses its button. */
  submit(entries: Entries, button: string | RegExp): Promise<void>;
  /** Opens a dialog by a button, submits it and waits until the page shows `notice`. */
  act(opener: string | RegExp, entries: Entries, button: string | RegExp, notice: string): Promise<void>;
  /** Filters the list of the open page. */
  filter(entries: Entries): Promise<void>;
  /** Waits until the page shows a text. */
  see(text: string | RegExp): Promise<void>;
  /** Returns the rows of the table, with its head. */
  readRows(): Promise<string[]>;
}

/** Starts a service and signs a browser in to its console. */
export async function openDesk(
  t: Pick<TestContext, 'after'>,
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Desk> {
  const service = await startConsole(t);
  const visit = await openVisit(t, browser, options);
  const { page } = visit;
  // A busy machine needs more time.
  page.setDefaultTimeout(120_000);
  await page.goto(`${service.consoleUrl}#sign-in=${await service.makeLink()}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();

  const dialog = page.getByRole('dialog');
  const press: Desk['press'] = (name) => page.getByRole('button', { name }).first().click();
  const see: Desk['see'] = (text) => page.getByText(text).first().waitFor();
  const submit: Desk['submit'] = async (entries, name) => {
    await fill(dialog, entries);
    await dialog.getByRole('button', { name }).click();
  };
  return {
    ...service,
    ...visit,
    dialog,
    press,
    submit,
    see,
    async open(address, heading) {
      await page.goto(`${service.consoleUrl}#/${address}`);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await page.getByText('Loading…').waitFor({ state: 'detached' });
    },
    async act(opener, entries, button, notice) {
      await press(opener);
      await submit(entries, button);
      await see(notice);
    },
    async filter(entries) {
      await fill(page.getByRole('search'), entries);
      await press('Show');
    },
    readRows: () => page.getByRole('row').allTextContents(),
  };
}

async function fill(form: Locator, entries: Entries): Promise<void> {
  for (const [label, value] of Object.entries(entries)) {
    const field = form.getByLabel(new RegExp(`^${label}`));
    await field.waitFor();
    if ((await field.and(form.locator('select')).count()) > 0) await field.selectOption(value);
    else await field.fill(value);
  }
}
