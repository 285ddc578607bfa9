import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { secondMs } from '../src/clock.ts';
import { launchBrowser, skip } from '../test/browser/chromium.ts';
import { type Desk, openDesk } from '../test/browser/console.ts';
import { furnish } from '../test/browser/console-pages.ts';

/** Sends requests and advances the clock until the plots of the overview have `pointsShown` more points. */
async function passTime({ clock, createKey, request, signIn, call }: Desk): Promise<void> {
  const cookie = await signIn();
  const key = await createKey('free');
  for (let notes = 0; notes < pointsShown; ) {
    for (let n = 0; n < 10 + 15 * (notes % 4); n += 1) await request(key, '/pets');
    for (const before = notes; notes === before; ) {
      await setTimeout(secondMs);
      clock.advance(secondMs);
      const overview = await (await call(cookie, '/overview')).json();
      notes = (overview as { readonly notes: unknown[] }).notes.length;
    }
  }
}

/** The folder of the pictures that docs/console.md shows. */
const folder = join(import.meta.dirname, '../docs');
const pointsShown = 8;
const viewport = { width: 1200, height: 760 };

if (skip !== false) throw new Error(skip);
const endings: (() => unknown)[] = [];
const test = { after: (end: () => unknown) => void endings.push(end) };
const browser = await launchBrowser();
try {
  const desk = await openDesk(test, browser, { viewport, colorScheme: 'light' });
  const { page, open } = desk;
  await furnish(desk);
  await passTime(desk);
  const picture = (name: string) => page.screenshot({ path: join(folder, `console-${name}.png`) });
  await open('accounts/Happy%20Paws', 'Happy Paws');
  await picture('account');
  await open('animals/1', 'Animal 1');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').waitFor();
  await picture('delete');
  await page.keyboard.press('Escape');
  await open('', 'Overview');
  await page.getByText('The last hour of this instance').waitFor();
  await picture('overview');
} finally {
  for (const end of endings.reverse()) await end();
  await browser.close();
}
