import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, skip } from '../test/browser/chromium.ts';

/** What a script of pictures gets: the browser, and an object on which helpers of the tests register their clean-up. */
interface Session {
  readonly browser: Browser;
  readonly test: { after(end: () => unknown): void };
}

const folder = join(import.meta.dirname, '../docs/pictures');

/** Runs a script with a browser, and cleans up after it. */
export async function withBrowser(run: (session: Session) => Promise<void>): Promise<void> {
  if (skip !== false) throw new Error(skip);
  const endings: (() => unknown)[] = [];
  const browser = await launchBrowser();
  try {
    await run({ browser, test: { after: (end) => void endings.push(end) } });
  } finally {
    for (const end of endings.reverse()) await end();
    await browser.close();
  }
}

/** Writes two pictures of a page, in light and in dark colours. `arrange` brings the page into the state to show. */
export async function takePictures(page: Page, name: string, arrange: () => Promise<void>): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await arrange();
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
}
