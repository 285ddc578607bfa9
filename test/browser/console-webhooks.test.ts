import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { storeWebhooks } from '../support/stored-webhooks.ts';
import { launchBrowser, skip } from './chromium.ts';
import { type Desk, openDesk } from './console.ts';

const one = 'wh_8tKq2ZmX0aLr5VnC';
const other = 'wh_9tKq2ZmX0aLr5VnC';

/** Two accounts with a webhook each, and five events. The first webhook has received two of them. */
async function furnishWebhooks({ createKey, store, openFile }: Desk) {
  await createKey('pro', undefined, { account: 'Happy Paws' });
  await createKey('pro', undefined, { account: 'Acme Zoo' });
  for (let n = 0; n < 5; n += 1) await store.catalogue.add({ name: `n${n}`, categoryId: 1n });
  const file = openFile();
  storeWebhooks(file, [
    { id: one, url: 'https://paws.example/hook', position: 2, result: '503' },
    { id: other, accountId: 2, url: 'https://acme.example/hook', status: 'disabled', position: 5 },
  ]);
  const read = (id: string) => ({
    ...file.prepare('select status, position from webhooks where public_id = ?').get(id),
  });
  return { read };
}

describe('webhooks in the console', { skip }, () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  test('an empty list shows that there are no webhooks, with and without a filter', async (t) => {
    const { page, open } = await openDesk(t, browser);
    await open('webhooks', 'Webhooks');
    await page.getByText('No account has a webhook yet.').waitFor();
    await page.getByLabel('Status').selectOption('disabled');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('No webhook on this page matches.').waitFor();
  });

  test('webhooks of all accounts are listed with their lag and last attempt', async (t) => {
    const desk = await openDesk(t, browser);
    const { page, open } = desk;
    await furnishWebhooks(desk);
    await open('webhooks', 'Webhooks');
    const [, newest = '', oldest = ''] = await page.getByRole('row').allTextContents();
    assert.match(
      newest,
      /https:\/\/acme\.example\/hook.*wh_9.*Acme Zoo.*disabled by its account.*at the end.*none yet/s,
    );
    assert.match(oldest, /paws\.example.*wh_8.*Happy Paws.*enabled.*3 events, .*503.*2027-01-02 11:58:00Z/s);
    assert.ok(!(await page.content()).includes('whsec_'));
    await page.getByLabel('Account').fill('Acme Zoo');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('link', { name: 'Happy Paws' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Acme Zoo' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);
  });

  test('a dialog disables and enables a webhook, and the audit log names the actor', async (t) => {
    const desk = await openDesk(t, browser);
    const { page, open, confirm } = desk;
    const { read } = await furnishWebhooks(desk);
    await open('webhooks', 'Webhooks');
    await page.getByRole('button', { name: `Disable ${one}` }).click();
    const dialog = page.getByRole('dialog', { name: `Disable ${one}?` });
    assert.match(
      (await dialog.textContent()) ?? '',
      /webhook of\s+Happy Paws\s+to\s+https:\/\/paws\.example\/hook/,
    );
    await confirm(`Disable ${one}`);
    await page.getByText(`${one} is disabled.`).waitFor();
    assert.deepEqual(read(one), { status: 'disabled', position: 2 });
    await page.getByRole('button', { name: `Enable ${other}` }).click();
    await confirm(`Enable ${other}`);
    await page.getByText(`${other} is enabled.`).waitFor();
    assert.deepEqual(read(other), { status: 'enabled', position: 5 });

    await open('audit', 'Audit log');
    const rows = await page.getByRole('row').allTextContents();
    for (const [action, id] of [
      ['webhook.disabled', one],
      ['webhook.enabled', other],
    ] as const)
      assert.ok(
        rows.some(
          (row) => row.includes(action) && row.includes(id) && row.includes('console mira in console_'),
        ),
        `${action}: ${rows}`,
      );
  });

  test('a webhook can replay from a given event, replay from the oldest event, or continue with new events', async (t) => {
    const desk = await openDesk(t, browser);
    const { page, open, confirm } = desk;
    const { read } = await furnishWebhooks(desk);
    await open('webhooks', 'Webhooks');
    const [, , row = ''] = await page.getByRole('row').allTextContents();
    const [second = ''] = /evt_\w{16}/.exec(row) ?? [];
    const replay = async (id: string, choose: () => Promise<unknown>) => {
      await page.getByRole('button', { name: `Replay ${id}` }).click();
      await choose();
      await confirm(`Replay ${id}`);
    };
    const choose = (start: string) => page.getByLabel('Send', { exact: true }).selectOption(start);
    await replay(one, () => choose('now'));
    await page.getByText(`${one} has its new position.`).waitFor();
    assert.deepEqual(read(one), { status: 'enabled', position: 5 });
    await replay(one, () => choose('oldest'));
    await page.getByText('5 events').waitFor();
    assert.deepEqual(read(one), { status: 'enabled', position: 0 });
    const name = async (event: string) => {
      await choose('event');
      await page.getByLabel(/^Event/).fill(event);
    };
    await replay(other, () => name(` ${second}`.trim()));
    await page.getByText('It is still disabled.').waitFor();
    assert.deepEqual(read(other), { status: 'disabled', position: 2 });
    await replay(other, () => name('evt_0000000000200000'));
    await page
      .getByRole('alert')
      .getByText(/id of an event that this service returned/)
      .waitFor();
    assert.deepEqual(read(other), { status: 'disabled', position: 2 });
  });

  test('the page of a webhook shows its attempts and sends one event again, and failing webhooks are filtered', async (t) => {
    const desk = await openDesk(t, browser);
    const { page, open, confirm, openFile, store } = desk;
    await furnishWebhooks(desk);
    const file = openFile();
    file.exec(`update webhooks set failures = 3 where public_id = '${one}';
      insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms)
      values (1, 'evt_0000000000000001', unixepoch() * 1000, '503', 1234)`);
    await open('webhooks', 'Webhooks');
    await page.getByLabel('Status').selectOption('failing');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('link', { name: other }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: one }).click();
    await page.getByRole('heading', { name: one }).waitFor();
    await page.getByRole('cell', { name: '1.23 s' }).waitFor();
    const [second = ''] = /evt_\w{16}/.exec((await page.locator('dl').textContent()) ?? '') ?? [];
    const send = async (event: string) => {
      await page.getByLabel(/^Event id/).fill(event);
      await confirm('Send the event');
    };
    await page.getByRole('button', { name: 'Send an event' }).click();
    await send('evt_0000000000000001');
    await page
      .getByRole('alert')
      .getByText(/must be the id of an event that this service returned/)
      .waitFor();
    await send(second);
    await page.getByText('The event is sent again within seconds.').waitFor();
    assert.deepEqual(
      file
        .prepare('select position from webhook_requests')
        .all()
        .map((row) => ({ ...row })),
      [{ position: 2 }],
    );
    const [entry] = (await store.audit.list({ limit: 1 })).items;
    assert.deepEqual([entry?.action, entry?.subject], ['webhook.sent', one]);
  });

  test('the dialog says that a webhook whose next event is deleted must be replayed before it is enabled', async (t) => {
    const desk = await openDesk(t, browser);
    const { page, open, confirm, openFile } = desk;
    const { read } = await furnishWebhooks(desk);
    openFile().exec(`delete from events where id < 4; update event_horizon set deleted_to = 3;
      update webhooks set status = 'disabled'`);
    await open('webhooks', 'Webhooks');
    await page.getByRole('button', { name: `Enable ${one}` }).click();
    await confirm(`Enable ${one}`);
    await page
      .getByRole('alert')
      .getByText(/no longer kept: first replay the webhook/)
      .waitFor();
    assert.deepEqual(read(one), { status: 'disabled', position: 2 });
  });

  test('an account shows its webhooks; the overview shows the number of disabled ones and the greatest lag', async (t) => {
    const desk = await openDesk(t, browser);
    const { page, open } = desk;
    await furnishWebhooks(desk);
    await open('accounts/Happy%20Paws', 'Happy Paws');
    const table = page.getByRole('region', { name: 'Webhooks' });
    assert.match((await table.textContent()) ?? '', /paws\.example/);
    await table.getByRole('link', { name: 'Show in Webhooks' }).click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    await page.getByRole('button', { name: `Disable ${one}` }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);

    await open('', 'Overview');
    const fact = (name: string) => page.getByText(name, { exact: true }).locator('..');
    assert.match((await fact('Webhook farthest behind').textContent()) ?? '', /\d+ \w+.*wh_8/s);
    await fact('Webhooks disabled').getByRole('link', { name: '1' }).click();
    await page.getByRole('button', { name: `Enable ${other}` }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);
  });

  test('the dialog that revokes a key names the webhooks that the key created, and can disable them', async (t) => {
    const desk = await openDesk(t, browser);
    const { page, open, confirm, openFile, store } = desk;
    const { read } = await furnishWebhooks(desk);
    const [key] = await store.keyring.list('Happy Paws');
    const { id: keyId = '', visibleStart = '' } = key ?? {};
    const third = 'wh_7tKq2ZmX0aLr5VnC';
    storeWebhooks(openFile(), [{ id: third, url: 'https://paws.example/other', keyId: 'key_2' }]);
    openFile().prepare('update webhooks set key_id = ? where public_id = ?').run(keyId, one);
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await page.getByRole('button', { name: `Revoke ${visibleStart}` }).click();
    const dialog = page.getByRole('dialog');
    const items = dialog.getByRole('listitem');
    assert.match((await items.textContent()) ?? '', /^https:\/\/paws\.example\/hook\s+enabled$/);
    await dialog.getByLabel('Also disable these webhooks').check();
    await confirm(/^Revoke/);
    await page.getByText('is revoked. The webhooks that it created are disabled.').waitFor();
    assert.deepEqual([read(one)['status'], read(third)['status']], ['disabled', 'enabled']);
    const log = (await store.audit.list({ limit: 2 })).items;
    assert.deepEqual(
      log.map(({ action, subject, actor }) => [action, subject, actor.kind]),
      [
        ['webhook.disabled', one, 'console'],
        ['key.revoked', keyId, 'console'],
      ],
    );
  });
});
