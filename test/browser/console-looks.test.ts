import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../support/processes.ts';
import { describeInBrowser, expectAccessible } from './chromium.ts';
import { type Desk, openDesk } from './console.ts';
import { furnish } from './console-pages.ts';

/** The pages to check, by the part of their URL after `#`, with their headings. */
const pages = {
  accounts: 'Accounts',
  'accounts/Happy%20Paws': 'Happy Paws',
  bans: 'Bans',
  requests: 'Failed requests',
  animals: 'Animals',
  'accounts?sort=requests': 'Accounts',
  'animals/1': 'Animal 1',
  categories: 'Category names',
  orders: 'Orders',
  'orders/1': 'Order 1 of Happy Paws',
  'search?text=a': 'Search: a',
  'search?text=nothing': 'Search: nothing',
  webhooks: 'Webhooks',
  'webhooks/wh_8tKq2ZmX0aLr5VnC': 'Webhook of Happy Paws to paws.example.com',
  'webhooks?account=%C3%89lodie%E2%80%99s%20reptiles%20%26%20friends': 'Webhooks',
  operators: 'Operators',
  audit: 'Audit log',
  '': 'Overview',
};

describeInBrowser('the pages of the console', (browser) => {
  test('fit every window size in every color scheme and have no axe-core violation', async (t) => {
    const desk = await openDesk(t, browser());
    const { page, open, complaints } = desk;
    await furnish(desk);
    for (const [address, heading] of Object.entries(pages)) {
      await open(address, heading);
      if (heading === 'Overview') {
        desk.clock.advance(10_000);
        await page.getByText('Requests per second', { exact: true }).waitFor();
      }
      await look(desk, address);
    }
    await open('animals/1', 'Animal 1');
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').waitFor();
    await look(desk, 'dialog');
    await page.keyboard.press('Escape');
    await open('webhooks', 'Webhooks');
    await page.getByRole('button', { name: /^Replay wh_8/ }).click();
    await page.getByLabel('Send', { exact: true }).selectOption('event');
    await look(desk, 'replay');
    await page.keyboard.press('Escape');
    await open('accounts/Acme%20Zoo', 'Acme Zoo');
    await page.getByRole('button', { name: /^Revoke as_stg/ }).click();
    await page.getByLabel('Also disable these webhooks').waitFor();
    await look(desk, 'revoke');
    assert.deepEqual(complaints, []);
  });
});

describeInBrowser('the tables of the console on a phone', (browser) => {
  test('have their buttons in sight', async (t) => {
    const desk = await openDesk(t, browser());
    const { page, open } = desk;
    await furnish(desk);
    await page.setViewportSize({ width: 390, height: 844 });
    const shown = {
      'accounts/Acme%20Zoo': 'Acme Zoo',
      orders: 'Orders',
      webhooks: 'Webhooks',
      operators: 'Operators',
    };
    for (const [address, heading] of Object.entries(shown)) {
      await open(address, heading);
      const ends = await page
        .locator('td button')
        .evaluateAll((all: { getBoundingClientRect(): { right: number } }[]) =>
          all.map((one) => one.getBoundingClientRect().right),
        );
      assert.ok(ends.length > 0 && ends.every((right) => right <= 390), address);
    }
  });
});

const looks = [
  { size: 'screen', viewport: { width: 1440, height: 900 }, colorScheme: 'light', isJudged: true },
  { size: 'screen', viewport: { width: 1440, height: 900 }, colorScheme: 'dark', isJudged: false },
  { size: 'narrow', viewport: { width: 320, height: 844 }, colorScheme: 'light', isJudged: false },
  { size: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light', isJudged: false },
  { size: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isJudged: true },
] as const;

/** Checks an open page in each size and colour scheme. axe-core runs once for each size and each scheme. */
async function look({ page }: Desk, name: string): Promise<void> {
  for (const { size, viewport, colorScheme, isJudged } of looks) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    // A plot follows the size of its window in a later frame.
    const measure = () => page.evaluate('document.documentElement.scrollWidth');
    const fits = until(measure, (width) => width === viewport.width, 10_000);
    await fits.catch(({ message }) => assert.fail(`${name} is wider than a ${size}: ${message}`));
    if (isJudged) await expectAccessible(page, `${name} on a ${size}, ${colorScheme}`);
  }
}
