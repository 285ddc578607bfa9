import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeInBrowser } from './chromium.ts';
import { type Desk, openDesk } from './console.ts';
import { furnish } from './console-pages.ts';

async function openFurnished(...given: Parameters<typeof openDesk>) {
  const desk = await openDesk(...given);
  await furnish(desk);
  return desk;
}

/** Types a text into the search field of the header and sends it. */
async function searchFor({ page }: Desk, text: string): Promise<void> {
  const field = page.getByRole('banner').getByRole('searchbox');
  await field.fill(text);
  await field.press('Enter');
}

const hashOf = ({ page }: Desk) => new URL(page.url()).hash;

describeInBrowser('the search field of the console', (browser) => {
  test('goes straight to the only exact hit', async (t) => {
    const desk = await openFurnished(t, browser());
    for (const [text, heading, hash] of [
      ['happy paws', 'Account Happy Paws', '#/accounts/Happy%20Paws'],
      ['rex', 'Rex (animal 1)', '#/animals/1'],
      ['6', 'Far (animal 6)', '#/animals/6'],
      ['wh_8tKq2ZmX0aLr5VnC', 'Webhook of Happy Paws to paws.example.com', '#/webhooks/wh_8tKq2ZmX0aLr5VnC'],
    ] as const) {
      await desk.open('audit', 'Audit log');
      await searchFor(desk, text);
      await desk.arrive(heading);
      assert.equal(hashOf(desk), hash);
    }
  });

  test('leads from the name of a key to its account', async (t) => {
    const desk = await openFurnished(t, browser());
    const [key] = await desk.store.keyring.list('Happy Paws');
    await searchFor(desk, 'warehouse');
    await desk.arrive('Account Happy Paws');
    assert.equal(hashOf(desk), `#/accounts/Happy%20Paws?keysFrom=${key?.id}`);
  });

  test('leads from a request id to the failed request', async (t) => {
    const desk = await openFurnished(t, browser());
    desk
      .openFile()
      .exec(`insert into requests (at_ms, last_at_ms, status, code, request_id, duration_ms, times)
      values (1, 1, 404, 'not_found', 'req-1', 1, 1)`);
    await searchFor(desk, 'req-1');
    await desk.arrive('Failed requests');
    assert.equal(hashOf(desk), '#/requests?id=req-1');
  });

  test('shows several hits by their kind', async (t) => {
    const desk = await openFurnished(t, browser());
    await searchFor(desk, '1');
    await desk.arrive('Search: 1');
    for (const kind of ['Animals', 'Orders'])
      await desk.page.getByRole('heading', { name: kind, level: 2 }).waitFor();
    await desk.page.getByRole('table', { name: 'Orders' }).getByRole('link', { name: '1' }).click();
    await desk.arrive('Order 1 of Happy Paws');
  });

  test('leaves the page with the only hit out of the history', async (t) => {
    const desk = await openFurnished(t, browser());
    await desk.open('audit', 'Audit log');
    await searchFor(desk, 'Rex');
    await desk.arrive('Rex (animal 1)');
    await desk.page.goBack();
    await desk.arrive('Audit log');
  });

  test('says in plain words that nothing is found', async (t) => {
    const desk = await openFurnished(t, browser());
    await searchFor(desk, '<b>nobody</b>');
    await desk.see('Nothing is called');
    await desk.see('<b>nobody</b>');
  });

  test('keeps a key that somebody pastes out of the address', async (t) => {
    const desk = await openDesk(t, browser());
    const key = await desk.createKey('pro', undefined, { account: 'Happy Paws' });
    await searchFor(desk, key);
    await desk.arrive('Account Happy Paws');
    const secret = key.slice(12);
    assert.ok(desk.requests.every((address) => !address.includes(secret)));
    assert.ok(!desk.page.url().includes(secret));
  });
});

describeInBrowser('the page of failed requests', (browser) => {
  test('shows one request as a list of facts that lead to its account, key and webhook', async (t) => {
    const { openFile, store, open, page } = await openFurnished(t, browser());
    const [key] = await store.keyring.list('Happy Paws');
    const keyId = key?.id ?? '';
    openFile()
      .prepare(`insert into requests (at_ms, last_at_ms, account_id, key_id, status, code, subject, request_id, duration_ms, times)
        values (1, 1, 1, ?, 409, 'webhook_disabled', 'webhook wh_8tKq2ZmX0aLr5VnC', 'req-1', 1, 1)`)
      .run(keyId);
    await open('requests', 'Failed requests');
    await page.getByRole('link', { name: '1970-01-01' }).click();
    const links = page.locator('dl').getByRole('link');
    await links.first().waitFor();
    assert.deepEqual(await links.evaluateAll((all: { hash: string }[]) => all.map(({ hash }) => hash)), [
      '#/webhooks/wh_8tKq2ZmX0aLr5VnC',
      '#/accounts/Happy%20Paws',
      `#/accounts/Happy%20Paws?keysFrom=${keyId}`,
    ]);
  });
});

describeInBrowser('the page of an order', (browser) => {
  test('shows the animal, the account and the reference', async (t) => {
    const desk = await openFurnished(t, browser());
    await desk.open('orders', 'Orders');
    await desk.page.getByRole('link', { name: '1', exact: true }).first().click();
    await desk.arrive('Order 1 of Happy Paws');
    const facts = (await desk.page.locator('dl').textContent()) ?? '';
    assert.match(facts, /Statusreserved.*Time left.*Rex.*Happy Paws.*A-1017/s);
  });

  test('cancels and returns an order', async (t) => {
    const { open, act, page } = await openFurnished(t, browser());
    // Not the notice of the act, which has the same word.
    const untilClosed = (how: string) => page.locator('dt').getByText(how, { exact: true }).waitFor();
    await open('orders/1', 'Order 1 of Happy Paws');
    await act('Cancel the order 1', {}, 'Cancel order 1', 'The order 1 is cancelled.');
    await untilClosed('Cancelled');
    await open('orders/2', 'Order 2 of Happy Paws');
    await act('Return the order 2', {}, 'Return order 2', 'The order 2 is returned.');
    await untilClosed('Returned');
  });

  test('leads to its own entries of the audit log', async (t) => {
    const { open, page, arrive, store, readRows } = await openFurnished(t, browser());
    await store.closeOrder('cancel', 1n);
    await store.closeOrder('return', 2n);
    await open('orders/1', 'Order 1 of Happy Paws');
    await page.getByRole('link', { name: 'Audit log' }).click();
    await arrive('Audit log');
    assert.match((await readRows()).slice(1).join('|'), /^[^|]*order\.cancelled[^|]*$/);
  });

  test('is a link away from the page of its animal and from the audit log', async (t) => {
    const { open, page, arrive, store } = await openFurnished(t, browser());
    await store.closeOrder('cancel', 1n);
    for (const [address, heading] of [
      ['animals/1', 'Rex (animal 1)'],
      ['audit?action=order.cancelled', 'Audit log'],
    ] as const) {
      await open(address, heading);
      await page.getByRole('row').nth(1).getByRole('link', { name: '1', exact: true }).first().click();
      await arrive('Order 1 of Happy Paws');
    }
  });
});
