import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { resolvePlan } from '../../src/plans/plan.ts';
import { until } from '../support/processes.ts';
import { describeInBrowser } from './chromium.ts';
import { openDesk } from './console.ts';

describeInBrowser('accounts and keys in the console', (browser) => {
  test('an operator creates, rotates and revokes a key whose text is shown once', async (t) => {
    const { page, open, act, press, see, submit, request } = await openDesk(t, browser());
    const shown = page.getByLabel('The key', { exact: true });
    await open('accounts', 'Accounts');
    await press('New account');
    const limits = { 'Requests a minute': '500', 'Requests a day': '90000' };
    await submit({ Name: 'Happy Paws', Plan: 'enterprise', ...limits }, 'Create the account');
    await see('This account has no key, so it cannot send a request.');

    await press('New key');
    await submit({ Name: 'Warehouse' }, 'Create the key');
    const key = (await shown.textContent()) ?? '';
    assert.match(key, /^as_stg_[0-9A-Za-z]{28}$/);
    assert.equal((await request(key, '/pets')).headers.get('x-ratelimit-limit'), '500');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    assert.equal(await shown.textContent(), key);
    await submit({}, 'I have copied the key');
    await see('Warehouse');
    assert.ok(!(await page.content()).includes(key));

    const start = key.slice(0, 11);
    await press(`Rotate ${start}`);
    await submit({}, 'Create the new key');
    const successor = (await shown.textContent()) ?? '';
    await submit({}, 'I have copied the key');
    await see('rotated');
    assert.equal((await request(key, '/pets')).status, 200);
    await act(`Revoke ${start}`, {}, `Revoke ${start}…`, `${start}… is revoked.`);
    assert.equal((await request(successor, '/pets')).status, 200);
  });

  test('an operator deletes an account only by typing its name', async (t) => {
    const { page, open, act, press, see, submit, createKey, request, clock } = await openDesk(t, browser());
    const key = await createKey('free', undefined, { account: 'Happy Paws' });
    await createKey('free', undefined, { account: 'Two' });
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await act('Rename', { 'New name': 'Two' }, 'Save', 'an account named "Two" already exists');
    await page.keyboard.press('Escape');
    await press('Delete');
    const name = 'Type the name of the account';
    await submit({ [name]: 'Happy' }, 'Delete Happy Paws');
    await see('confirm: type the name of the account, "Happy Paws"');
    await submit({ [name]: 'Happy Paws' }, 'Delete Happy Paws');
    await see('The account is deleted with 1 key, 0 webhooks, 0 open holds.');
    clock.advance(10_000);
    assert.equal((await request(key, '/pets')).status, 401);
    await open('audit', 'Audit log');
    await page.getByRole('cell', { name: 'account.deleted' }).waitFor();
    assert.ok(!(await page.content()).includes('Happy Paws'));
  });

  test('the list of accounts filters by the start of a name and sorts by requests', async (t) => {
    const { page, open, filter, createKey, openFile, clock } = await openDesk(t, browser());
    for (const account of ['Acme Zoo', 'Happy Paws', 'Zoo']) await createKey('free', undefined, { account });
    const hour = clock.now() - (clock.now() % 3_600_000);
    openFile().exec(`insert into usage_hours values (2, ${hour}, 70, 0, 9), (3, ${hour}, 50, 20, 0)`);
    await open('accounts', 'Accounts');
    const names = () => page.locator('td:first-child').allTextContents();
    await filter({ 'Name begins with': 'ACME' });
    await page.getByRole('cell', { name: 'Zoo', exact: true }).waitFor({ state: 'detached' });
    assert.deepEqual(await names(), ['Acme Zoo']);
    for (const [sort, expected] of [
      ['requests', ['Happy Paws', 'Zoo']],
      ['refused', ['Zoo', 'Happy Paws']],
      ['errors', ['Happy Paws', 'Zoo']],
    ] as const) {
      await open(`accounts?sort=${sort}`, 'Accounts');
      await page.getByRole('cell', { name: expected[0], exact: true }).waitFor();
      assert.deepEqual(await names(), expected, sort);
    }
    await page.getByRole('cell', { name: '70' }).waitFor();
  });

  test('an account gets own limits and new windows on its page', async (t) => {
    const { page, open, act, createKey, request } = await openDesk(t, browser());
    await page.evaluate('{ const { now } = Date; Date.now = () => now() + 1e11; }');
    const key = await createKey('free', undefined, { account: 'Happy Paws' });
    const window = async (left: string) =>
      (await page.getByText(left, { exact: true }).locator('..').textContent()) ?? '';
    for (let n = 0; n < 58; n += 1) await request(key, '/pets');
    await open('accounts/Happy%20Paws', 'Happy Paws');
    assert.match(await window('2 left'), /resets in (?:1 min|5\d s)\.$/);
    assert.match(await window('942 left'), /of 1,000.*resets in (?:1 d|23 h 59 min)\.$/s);
    for (let n = 0; n < 2; n += 1) await request(key, '/pets');
    await window('0 left');

    const limits = { 'Requests a minute': '70', 'For how many hours': '36' };
    const set = '70 a minute, 1,000 a day, set for this account until 2027-01-04 00:00';
    await act('Set limits', limits, 'Save', set);
    await window('10 left');
    const reset = 'The windows of Happy Paws start again.';
    await act('Reset windows', {}, 'Reset the windows of Happy Paws', reset);
    await window('70 left');
  });

  test('new numbers of own limits keep their end unless the person asks for none', async (t) => {
    const { open, act, store, createKey, clock } = await openDesk(t, browser());
    await createKey('free', undefined, { account: 'Happy Paws' });
    const end = clock.now() + 3_600_000;
    await store.accounts.setLimits('Happy Paws', { perMinute: 70 }, end);
    const readEnd = async () => (await store.accounts.find('Happy Paws')).ownLimits?.untilMs;
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await act('Set limits', { 'Requests a minute': '80' }, 'Save', '80 a minute, 1,000 a day, set');
    assert.equal(await readEnd(), end);
    const both = { 'Requests a minute': '90', 'Requests a day': '2000' };
    await act('Set limits', both, 'Save', '90 a minute, 2,000 a day, set');
    assert.equal(await readEnd(), end);
    const endless = { 'Requests a minute': '91', 'Without an end': 'yes' };
    await act('Set limits', endless, 'Save', '91 a minute, 2,000 a day, set');
    assert.equal(await readEnd(), null);
  });

  test('the page of bans lists and lifts the bans of all accounts', async (t) => {
    const { page, open, act, see, createKey, store, clock, openFile } = await openDesk(t, browser());
    await open('bans', 'Bans');
    await see('No key is banned.');
    await createKey('free', undefined, { account: 'Happy Paws', name: 'Warehouse' });
    await createKey('free', undefined, { account: 'Acme Zoo' });
    const nowMs = clock.now();
    openFile().exec(`insert into key_bans select id, ${nowMs} + 3600000 * account_id, ${nowMs}, 60000, '', ${nowMs + 1e9}
        from api_keys where account_id in (select id from accounts where name in ('Happy Paws', 'Acme Zoo'));
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 50)
        insert into key_bans select 'key_' || printf('%016d', n), ${nowMs} + 90000000 + n, ${nowMs}, 60000, '', ${nowMs + 1e9} from numbers;
      with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 50)
        insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
        select 'key_' || printf('%016d', n), 1, randomblob(32), 'as_stg_' || n, 'pets:read', ${nowMs} from numbers`);
    const rows = page.getByRole('row');
    await rows.nth(50).waitFor();
    const [, first = '', second = ''] = await rows.allTextContents();
    assert.match(first, /as_stg_.{4}… Warehouse.*Happy Paws.*in (?:1 h|59 min)/s);
    assert.match(second, /Acme Zoo.*in (?:2 h|1 h 59 min)/s);

    const [{ keyId = '' } = {}] = await store.bans.list();
    await act(/^Lift the ban as_stg/, {}, /^Lift the ban of/, 'is lifted');
    await page.getByText('Warehouse').waitFor({ state: 'detached' });
    assert.ok(!(await store.bans.list()).some((ban) => ban.keyId === keyId));
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('cell', { name: 'as_stg_50…' }).waitFor();
    assert.equal(await rows.count(), 2);
  });

  test('the audit log is filtered by author and time', async (t) => {
    const { open, filter, see, readRows } = await openDesk(t, browser());
    await open('audit', 'Audit log');
    await filter({ Who: 'nobody' });
    await see('No entries match the filter.');
    for (const [query, rows] of [
      ['actor=mira&since=2027-01-02T12:00:00Z', 2],
      ['actor=mira&until=2027-01-02%2012:00', 0],
      ['actor=mira&since=2027-01-02&until=2027-01-03', 2],
    ] as const) {
      await open(`audit?${query}`, 'Audit log');
      const shown = await readRows();
      assert.equal(shown.length, rows, `${query}: ${shown}`);
    }
  });

  test('the page of an account shows its requests by day and saves them as CSV', async (t) => {
    const { page, open, createKey, openFile, clock } = await openDesk(t, browser());
    await createKey('free', undefined, { account: '=Happy Paws' });
    const today = clock.now() - (clock.now() % 86_400_000);
    const months = today - 300 * 86_400_000;
    openFile().exec(`insert into usage_days select id, ${months}, 30, 20, 5 from accounts;
      insert into usage_days select id, ${today}, 4, 1, 0 from accounts`);
    await open('accounts/%3DHappy%20Paws', '=Happy Paws');
    const year = page.getByRole('region', { name: 'The last 13 months' });
    await year.getByText('34 requests, 21 refused, 5 answered with an error.').waitFor();
    const plot = year.locator('figure');
    assert.equal(await plot.getAttribute('data-from'), new Date(months).toISOString());
    assert.equal(await plot.getAttribute('data-to'), new Date(today).toISOString());
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      year.getByRole('button', { name: 'CSV by day' }).click(),
    ]);
    const expected = `day,account,requests,refused,errors
2026-03-08,'=Happy Paws,30,20,5
2027-01-02,'=Happy Paws,4,1,0
`;
    assert.equal(await readFile(await file.path(), 'utf8'), expected.replaceAll('\n', '\r\n'));
  });

  test('the page of an account shows its plans, its last 7 days and all its keys', async (t) => {
    const { page, open, press, see, dialog, createKey, request, openFile } = await openDesk(t, browser());
    const key = await createKey('free', undefined, { account: 'Happy Paws', name: 'the oldest' });
    for (const path of ['/pets', '/pets', '/pets', '/nothing']) await request(key, path);
    const file = openFile();
    const count = file.prepare('select sum(requests) as sum from usage_hours');
    const read = async () => count.get()?.['sum'];
    await until(read, (sum) => sum === 4, 60_000);
    file.exec(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 60)
      insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
      select 'key_' || printf('%016d', n), 1, randomblob(32), 'as_stg_' || n, 'pets:read', 2000000000000 + n from numbers;
      insert into key_bans values ('key_0000000000000001', 2000000000000, 0, 60000, '', 2000000000000)`);
    await open('accounts/Happy%20Paws', 'Happy Paws');
    const week = page.getByRole('region', { name: 'The last 7 days' });
    await week.getByText('4 requests, 0 refused, 1 answered with an error.').waitFor();
    const plot = week.locator('figure');
    assert.equal(await plot.getAttribute('data-from'), '2026-12-26T12:00:00.000Z');
    assert.equal(await plot.getAttribute('data-to'), '2027-01-02T12:00:00.000Z');
    await see('There are more keys than the 50 on this page.');
    await press('Change the plan');
    const options = await dialog.getByLabel('Plan', { exact: true }).getByRole('option').allTextContents();
    for (const [index, name] of ['free', 'pro', 'business'].entries()) {
      const plan = resolvePlan(name, {});
      const { perMinute = 0, perDay = 0 } = 'limits' in plan ? plan.limits : {};
      const numbers = `${perMinute.toLocaleString('en')} a minute, ${perDay.toLocaleString('en')} a day`;
      assert.equal(options[index], `${name}: ${numbers}`);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Older keys' }).click();
    await see('the oldest');
    await see(/^banned for /);
    assert.equal(await page.getByText('There are more keys').count(), 0);
  });
});
