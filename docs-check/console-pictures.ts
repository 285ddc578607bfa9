/** Makes the pictures of the console that docs/console.md shows. */
import { setTimeout } from 'node:timers/promises';
import { secondMs } from '../src/clock.ts';
import { type Desk, openDesk } from '../test/browser/console.ts';
import { furnish } from '../test/browser/console-pages.ts';
import { takePictures, withBrowser } from './take-pictures.ts';

const pointsShown = 8;
const viewport = { width: 1200, height: 760 };

await withBrowser(async ({ browser, test }) => {
  const desk = await openDesk(test, browser, { viewport });
  const { page, open } = desk;
  await furnish(desk);
  await passTime(desk);
  await takePictures(page, 'console-account', () => open('accounts/Happy%20Paws', 'Happy Paws'));
  await takePictures(page, 'console-delete', async () => {
    await open('', 'Overview');
    await open('animals/1', 'Animal 1');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').waitFor();
  });
  await page.keyboard.press('Escape');
  await takePictures(page, 'console-overview', async () => {
    await open('', 'Overview');
    await page.getByText('The last hour of this instance').waitFor();
  });
});

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
