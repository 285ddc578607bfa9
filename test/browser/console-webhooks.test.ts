import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storeWebhooks } from '../support/stored-webhooks.ts';
import { describeInBrowser } from './chromium.ts';
import { type Desk, openDesk } from './console.ts';

const one = 'wh_8tKq2ZmX0aLr5VnC';
const other = 'wh_9tKq2ZmX0aLr5VnC';

/** Two accounts with a webhook each, and five events. The first webhook has received two of them. */
async function furnish(desk: Desk) {
  const { createKey, store, openFile } = desk;
  await createKey('pro', undefined, { account: 'Happy Paws' });
  await createKey('pro', undefined, { account: 'Acme Zoo' });
  for (let n = 0; n < 5; n += 1) await store.catalogue.add({ name: `n${n}`, categoryId: 1n });
  const file = openFile();
  storeWebhooks(file, [
    { id: one, url: 'https://paws.example/hook', position: 2, result: '503' },
    { id: other, accountId: 2, url: 'https://acme.example/hook', status: 'disabled', position: 5 },
  ]);
  const select = file.prepare('select status, position from webhooks where public_id = ?');
  return { ...desk, file, read: (id: string) => ({ ...select.get(id) }) };
}

const openFurnished = async (...given: Parameters<typeof openDesk>) => furnish(await openDesk(...given));

describeInBrowser('webhooks in the console', (browser) => {
  test('the list of webhooks has those of all accounts with their lag and last attempt', async (t) => {
    const desk = await openDesk(t, browser());
    const { page, open, filter, readRows, see } = desk;
    await open('webhooks', 'Webhooks');
    await see('No account has a webhook yet.');
    await filter({ Status: 'disabled' });
    await see('No webhooks match the filter.');
    await furnish(desk);
    await open('webhooks', 'Webhooks');
    const [, newest = '', oldest = ''] = await readRows();
    assert.match(newest, /https:\/\/acme\.example\/hook.*wh_9.*Acme Zoo.*disabled by its account/s);
    assert.match(newest, /disabled by its account.*at the end.*none yet/s);
    assert.match(oldest, /paws\.example.*wh_8.*Happy Paws.*enabled.*3 events, .*503.*2027-01-02 11:58:00Z/s);
    assert.ok(!(await page.content()).includes('whsec_'));
    await filter({ Account: 'Acme Zoo' });
    await page.getByRole('link', { name: 'Happy Paws' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Acme Zoo' }).waitFor();
    assert.equal((await readRows()).length, 2);
  });

  test('a webhook can replay from a given event, replay from the oldest event, or continue with new events', async (t) => {
    const { open, act, press, submit, see, dialog, readRows, read, file } = await openFurnished(t, browser());
    await open('webhooks', 'Webhooks');
    const [, , row = ''] = await readRows();
    const [second = ''] = /evt_\w{16}/.exec(row) ?? [];
    await act(`Replay ${one}`, { Send: 'now' }, `Replay ${one}`, `${one} has its new position.`);
    assert.deepEqual(read(one), { status: 'enabled', position: 5 });
    await act(`Replay ${one}`, { Send: 'oldest' }, `Replay ${one}`, '5 events');
    assert.deepEqual(read(one), { status: 'enabled', position: 0 });
    const replay = { Send: 'event', 'Event id': second };
    await act(`Replay ${other}`, replay, `Replay ${other}`, 'It is still disabled.');
    assert.deepEqual(read(other), { status: 'disabled', position: 2 });

    await press(`Replay ${other}`);
    await submit({ Send: 'event', 'Event id': 'evt_0000000000200000' }, `Replay ${other}`);
    await dialog
      .getByRole('alert')
      .getByText(/id of an event that this service returned/)
      .waitFor();
    assert.deepEqual(read(other), { status: 'disabled', position: 2 });
    await dialog.getByRole('button', { name: 'Back' }).click();
    file.exec(`delete from events where id < 4; update event_horizon set deleted_to = 3`);
    await act(`Enable ${other}`, {}, `Enable ${other}`, 'no longer kept: first replay the webhook');
    await see('no longer kept: first replay the webhook');
    assert.deepEqual(read(other), { status: 'disabled', position: 2 });
  });

  test('the webhooks that a restore has put on hold are resumed together', async (t) => {
    const { page, open, act, press, submit, see, dialog, read, file } = await openFurnished(t, browser());
    await open('webhooks', 'Webhooks');
    assert.equal(await page.getByRole('button', { name: 'Resume all on hold' }).count(), 0);
    file.exec(`update webhooks set status = 'disabled', disabled_because = 'restored'`);
    await open('', 'Overview');
    await open('webhooks', 'Webhooks');
    await page.getByRole('button', { name: `Enable ${other}` }).waitFor();
    await press(`Disable ${other}`);
    await dialog.getByText('would not be resumed with the others').waitFor();
    await submit({}, `Disable ${other}`);
    await see(`${other} is disabled.`);
    await page.getByRole('button', { name: `Disable ${other}` }).waitFor({ state: 'detached' });
    await act('Resume all on hold', {}, 'Resume 1 webhook', 'Resumed 1 webhook.');
    assert.deepEqual(
      [read(one), read(other)],
      [
        { status: 'enabled', position: 2 },
        { status: 'disabled', position: 5 },
      ],
    );
    await page.getByRole('button', { name: 'Resume all on hold' }).waitFor({ state: 'detached' });
  });

  test('the page of a webhook shows its attempts and sends one event again', async (t) => {
    const { page, open, filter, press, submit, see, file, store } = await openFurnished(t, browser());
    file.exec(`update webhooks set failures = 3 where public_id = '${one}';
      insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms)
      values (1, 'evt_0000000000000001', unixepoch() * 1000, '503', 1234)`);
    await open('webhooks', 'Webhooks');
    await filter({ Status: 'failing' });
    await page.getByRole('link', { name: other }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: one }).click();
    await page.getByRole('heading', { name: 'Webhook of Happy Paws to paws.example' }).waitFor();
    await page.getByRole('cell', { name: '1.23 s' }).waitFor();
    const [second = ''] = /evt_\w{16}/.exec((await page.locator('dl').textContent()) ?? '') ?? [];
    await press('Send an event');
    await submit({ 'Event id': 'evt_0000000000000001' }, 'Send the event');
    await see(/this webhook receives no event with this id/);
    await submit({ 'Event id': second }, 'Send the event');
    await see('The event is sent again within seconds.');
    assert.deepEqual({ ...file.prepare('select position from webhook_requests').get() }, { position: 2 });
    const [entry] = (await store.audit.list({ limit: 1 })).items;
    assert.deepEqual([entry?.action, entry?.subject], ['webhook.sent', one]);
  });

  test('the page of a webhook shows an answer of HTML as text', async (t) => {
    const { page, open, file } = await openFurnished(t, browser());
    const answer = `<img src=x onerror="document.title='run'"><b>${'no '.repeat(30)}</b>`;
    file
      .prepare(`insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms, attempt, is_manual, answer_start)
        values (1, 'evt_0000000000000001', unixepoch() * 1000, '500', 7, 3, 1, ?)`)
      .run(Buffer.from(answer));
    await open(`webhooks/${one}`, 'Webhook of Happy Paws to paws.example');
    await page.getByRole('cell', { name: '3 by hand' }).waitFor();
    await page.getByText(`${answer.slice(0, 60)}…`, { exact: true }).click();
    await page.getByText(answer, { exact: true }).waitFor();
    assert.equal(await page.locator('td img, td b').count(), 0);
    assert.notEqual(await page.title(), 'run');
  });

  test('the page of a webhook that fails says when the next attempt comes', async (t) => {
    const { open, see, file } = await openFurnished(t, browser());
    file.exec(`update webhooks set failures = 1, next_attempt_at_ms = ${Date.UTC(2027, 0, 2, 12, 30)}`);
    await open(`webhooks/${one}`, 'Webhook of Happy Paws to paws.example');
    await see('2027-01-02 12:30:00Z');
  });

  test('the page of a webhook says since when it is disabled because it answered 410', async (t) => {
    const { page, open, file } = await openFurnished(t, browser());
    file.exec(`update webhooks set status = 'disabled', disabled_because = 'gone';
      insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms, is_manual) values
      (1, 'evt_0000000000000001', ${Date.UTC(2027, 0, 2, 9)}, '410', 7, 0),
      (1, 'evt_0000000000000001', ${Date.UTC(2027, 0, 2, 10)}, '500', 7, 1)`);
    await open(`webhooks/${one}`, 'Webhook of Happy Paws to paws.example');
    const fact = page.getByText('Disabled since', { exact: true }).locator('..');
    assert.match((await fact.textContent()) ?? '', /2027-01-02 09:00:00Z$/);
  });

  test('the page of a webhook leads to its entries of the audit log', async (t) => {
    const { page, open, act, arrive, readRows } = await openFurnished(t, browser());
    await open('webhooks', 'Webhooks');
    await act(`Disable ${one}`, {}, `Disable ${one}`, `${one} is disabled.`);
    await open(`webhooks/${one}`, 'Webhook of Happy Paws to paws.example');
    await page.getByRole('link', { name: 'Audit log' }).click();
    await arrive('Audit log');
    const rows = (await readRows()).slice(1);
    assert.match(rows.join('|'), /^[^|]*webhook\.disabled[^|]*mira[^|]*$/);
  });

  test('the page of a disabled webhook says how many events it can still get', async (t) => {
    const { page, open, see, file } = await openFurnished(t, browser());
    file.exec(`update webhooks set position = 2, status = 'disabled'`);
    const fact = page.getByText('Can still get', { exact: true }).locator('..');
    await open(`webhooks/${one}`, 'Webhook of Happy Paws to paws.example');
    assert.match((await fact.textContent()) ?? '', /3 events$/);
    file.exec('delete from events where id < 4; update event_horizon set deleted_to = 3');
    await page.reload();
    await see(/2 events, but its position is lost/);
  });

  test('the webhooks of an account are on its page and in the sums of the overview', async (t) => {
    const { page, open, arrive, readRows } = await openFurnished(t, browser());
    await open('accounts/Happy%20Paws', 'Happy Paws');
    const table = page.getByRole('region', { name: 'Webhooks' });
    assert.match((await table.textContent()) ?? '', /paws\.example/);
    await table.getByRole('link', { name: 'Show in Webhooks' }).click();
    await arrive('Webhooks');
    await page.getByRole('button', { name: `Disable ${one}` }).waitFor();
    assert.equal((await readRows()).length, 2);

    await open('', 'Overview');
    const fact = (name: string) => page.getByText(name, { exact: true }).locator('..');
    assert.match((await fact('Webhook farthest behind').textContent()) ?? '', /\d+ \w+.*wh_8/s);
    await fact('Webhooks disabled').getByRole('link', { name: '1' }).click();
    await arrive('Webhooks');
    await page.getByRole('button', { name: `Enable ${other}` }).waitFor();
    assert.equal((await readRows()).length, 2);
  });

  test('the dialog that revokes a key can disable the webhooks that the key created', async (t) => {
    const { open, press, submit, see, dialog, file, store, read } = await openFurnished(t, browser());
    const [key] = await store.keyring.list('Happy Paws');
    const { id: keyId = '', visibleStart = '' } = key ?? {};
    const third = 'wh_7tKq2ZmX0aLr5VnC';
    storeWebhooks(file, [{ id: third, url: 'https://paws.example/other', keyId: 'key_2' }]);
    file.prepare('update webhooks set key_id = ? where public_id = ?').run(keyId, one);
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await press(`Revoke ${visibleStart}`);
    const items = dialog.getByRole('listitem');
    assert.match((await items.textContent()) ?? '', /^https:\/\/paws\.example\/hook\s+enabled$/);
    await dialog.getByLabel('Also disable these webhooks').check();
    await submit({}, /^Revoke/);
    await see('is revoked. The webhooks that it created are disabled.');
    assert.deepEqual([read(one)['status'], read(third)['status']], ['disabled', 'enabled']);
    const log = (await store.audit.list({ limit: 2 })).items;
    assert.partialDeepStrictEqual(log, [
      { action: 'webhook.disabled', subject: one, actor: { kind: 'console' } },
      { action: 'key.revoked', subject: keyId, actor: { kind: 'console' } },
    ]);
  });
});
