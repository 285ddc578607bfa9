import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startConsole } from '../operator/console-browser.ts';
import { describeInBrowser, openVisit } from './chromium.ts';
import { openDesk } from './console.ts';
import { furnish } from './console-pages.ts';

/** The heading of each page with a thing of its own, by the part of its address after `#/`. */
const headings = {
  '': 'Overview',
  accounts: 'Accounts',
  'accounts/Happy%20Paws': 'Account Happy Paws',
  bans: 'Bans',
  requests: 'Failed requests',
  animals: 'Animals',
  'animals/1': 'Rex (animal 1)',
  categories: 'Category names',
  orders: 'Orders',
  'orders/1': 'Order 1 of Happy Paws',
  webhooks: 'Webhooks',
  'webhooks/wh_8tKq2ZmX0aLr5VnC': 'Webhook of Happy Paws to paws.example.com',
  operators: 'Operators',
  audit: 'Audit log',
  'search?text=a': 'Search: a',
  'accounts/Nobody': 'No such account',
  'animals/99': 'No such animal',
  'orders/99': 'No such order',
  'webhooks/wh_0000000000000000': 'No such webhook',
  nothing: 'Page not found',
};

/** What the page of a list says while there is nothing. */
const empty = {
  bans: 'A key that goes on sending after 429 is banned for a while',
  requests: 'Here are the requests that are refused, fail or take over a second.',
  animals: '“Add an animal” adds one',
  categories: '“Name a category” gives a number its name.',
  orders: 'Here are the orders that accounts place',
  webhooks: 'An account creates its webhooks itself',
  accounts: '“New account” creates one.',
};

/** What the page of a missing thing says. */
const missing = {
  'accounts/Nobody': 'There is no account “Nobody”. It may have another name now, or it is deleted.',
  'animals/99': 'There is no animal with the number 99. It may be deleted: a number is never used again.',
  'animals/abc': 'There is no animal with the number abc.',
  'orders/99': 'There is no order with the number 99. Orders are never deleted, so check the number.',
  'webhooks/wh_0000000000000000': 'There is no webhook wh_0000000000000000. Its account may have deleted it.',
};

describeInBrowser('the words of the console', (browser) => {
  test('each page has one heading, which is also its title', async (t) => {
    const desk = await openDesk(t, browser());
    await furnish(desk);
    const { page, open } = desk;
    for (const [address, heading] of Object.entries(headings)) {
      await open(address, heading);
      assert.deepEqual(await page.getByRole('heading', { level: 1 }).allTextContents(), [heading]);
      await page.waitForFunction(`document.title === ${JSON.stringify(`${heading} · Animal Store staging`)}`);
    }
  });

  test('an empty list says what it will have', async (t) => {
    const { open, see, openFile } = await openDesk(t, browser());
    openFile().exec('delete from accounts');
    for (const [address, text] of Object.entries(empty)) {
      await open(address, headings[address as keyof typeof headings]);
      await see(text);
    }
  });

  test('a list without a match leads back to the whole list', async (t) => {
    const { open, see, page, arrive } = await openDesk(t, browser());
    await open('animals?status=sold', 'Animals');
    await see('No animals match the filter.');
    await page.getByRole('link', { name: 'Show all animals' }).click();
    await arrive('Animals');
    await see('No animal yet.');
  });

  test('the page of a thing that is not there says so', async (t) => {
    const { page, consoleUrl, see } = await openDesk(t, browser());
    for (const [address, text] of Object.entries(missing)) {
      await page.goto(`${consoleUrl}#/${address}`);
      await see(text);
      assert.equal(await page.getByRole('alert').count(), 0);
      await page.getByRole('link', { name: /^All / }).waitFor();
    }
  });

  test('a newcomer is not told that a session has ended', async (t) => {
    const service = await startConsole(t);
    const { page } = await openVisit(t, browser());
    await page.goto(service.consoleUrl);
    await page.getByText('npx animal-store console').waitFor();
    assert.equal(await page.getByText('Your session has ended.').count(), 0);
  });

  test('a visitor whose session has ended meanwhile is told so once', async (t) => {
    const { page, sessions } = await openDesk(t, browser());
    await sessions.revokeAll();
    await page.reload();
    await page.getByText('Your session has ended.').waitFor();
    await page.reload();
    await page.getByText('npx animal-store console').waitFor();
    assert.equal(await page.getByText('Your session has ended.').count(), 0);
  });
});
