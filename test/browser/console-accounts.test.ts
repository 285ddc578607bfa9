import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { resolvePlan } from '../../src/plans/plan.ts';
import { until } from '../support/processes.ts';
import { launchBrowser, skip } from './chromium.ts';
import { openDesk } from './console.ts';

describe('accounts and keys in the console', { skip }, () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  test('an operator creates an account and a key, which is shown once and works', async (t) => {
    const { page, open, request } = await openDesk(t, browser);
    await open('accounts', 'Accounts');
    await page.getByRole('button', { name: 'New account' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Happy Paws');
    await page.getByLabel('Plan', { exact: true }).selectOption('enterprise');
    await page.getByLabel('Requests a minute').fill('500');
    await page.getByLabel('Requests a day').fill('90000');
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByRole('heading', { name: 'Happy Paws' }).waitFor();
    await page.getByText('This account has no key.').waitFor();

    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('textbox', { name: /^Name/ }).fill('Warehouse');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const key = (await page.getByLabel('The key', { exact: true }).textContent()) ?? '';
    assert.match(key, /^as_stg_[0-9A-Za-z]{28}$/);
    const answer = await request(key, '/pets');
    assert.equal(answer.headers.get('x-ratelimit-limit'), '500');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    assert.equal(await page.getByLabel('The key', { exact: true }).textContent(), key);
    await page.getByRole('button', { name: 'I have copied the key' }).click();
    await page.getByText('Warehouse').waitFor();
    assert.ok(!(await page.content()).includes(key));
  });

  test('a key is rotated with an overlap, and the old one is revoked', async (t) => {
    const { page, open, request, createKey } = await openDesk(t, browser);
    const old = await createKey('pro', undefined, { account: 'Happy Paws' });
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await page.getByRole('button', { name: /^Rotate as_stg/ }).click();
    await page.getByRole('button', { name: 'Create the new key' }).click();
    const key = (await page.getByLabel('The key', { exact: true }).textContent()) ?? '';
    await page.getByRole('button', { name: 'I have copied the key' }).click();
    await page.getByText('rotated').waitFor();
    assert.equal((await request(old, '/pets')).status, 200);
    const start = old.slice(0, 11);
    await page.getByRole('button', { name: `Revoke ${start}` }).click();
    await page.getByRole('button', { name: `Revoke ${start}…` }).click();
    await page.getByText(`${start}… is revoked.`).waitFor();
    assert.equal((await request(key, '/pets')).status, 200);
  });

  test('an operator changes the plan and the name of an account, suspends and resumes it, and each action is in the audit log', async (t) => {
    const { page, open, createKey, store } = await openDesk(t, browser);
    await createKey('free', undefined, { account: 'Hapy Paws' });
    await open('accounts/Hapy%20Paws', 'Hapy Paws');
    await page.getByRole('button', { name: 'Change the plan' }).click();
    const options = await page.getByLabel('Plan', { exact: true }).getByRole('option').allTextContents();
    for (const [index, name] of ['free', 'pro', 'business'].entries()) {
      const plan = resolvePlan(name, {});
      assert.ok('limits' in plan);
      const { perMinute, perDay } = plan.limits;
      const numbers = `${perMinute.toLocaleString('en')} a minute, ${perDay.toLocaleString('en')} a day`;
      assert.equal(options[index], `${name}: ${numbers}`);
    }
    await page.getByLabel('Plan', { exact: true }).selectOption('business');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The new limits apply within 2 seconds').waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('Happy Paws');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: 'Happy Paws' }).waitFor();
    await page.getByRole('button', { name: 'Suspend' }).click();
    await page.getByRole('button', { name: 'Suspend Happy Paws' }).click();
    await page.getByText(/^suspended since/).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Resume Happy Paws' }).click();
    await page.getByText('active').first().waitFor();
    assert.deepEqual(
      (await store.accounts.list()).map(({ account, plan }) => [account, plan]),
      [['Happy Paws', 'business']],
    );

    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByRole('cell', { name: 'account.resumed' }).waitFor();
    const rows = await page.getByRole('row').allTextContents();
    for (const action of ['plan_changed', 'renamed', 'suspended', 'resumed'])
      assert.ok(
        rows.some((row) => row.includes(`account.${action}`) && row.includes('console mira in console_')),
        action,
      );
  });

  test('an operator deletes an account after typing its name', async (t) => {
    const { page, open, confirm, createKey, request, clock } = await openDesk(t, browser);
    const key = await createKey('free', undefined, { account: 'Happy Paws' });
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await page.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type the name of the account').fill('Happy');
    await confirm('Delete Happy Paws');
    await dialog.getByText('confirm: type the name of the account, "Happy Paws"').waitFor();
    await dialog.getByLabel('Type the name of the account').fill('Happy Paws');
    await confirm('Delete Happy Paws');
    await page.getByText('The account is deleted with 1 key, 0 webhooks, 0 open holds.').waitFor();
    await page.getByText('No account on this page matches.').waitFor();
    clock.advance(10_000);
    assert.equal((await request(key, '/pets')).status, 401);
    await open('audit', 'Audit log');
    await page.getByRole('cell', { name: 'account.deleted' }).waitFor();
    assert.ok(!(await page.content()).includes('Happy Paws'));
  });

  test('accounts are found by the start of their name, and ordered by their requests', async (t) => {
    const { page, open, createKey, openFile, clock } = await openDesk(t, browser);
    for (const account of ['Acme Zoo', 'Happy Paws', 'Zoo']) await createKey('free', undefined, { account });
    const hour = clock.now() - (clock.now() % 3_600_000);
    openFile().exec(`insert into usage_hours values (2, ${hour}, 70, 0, 9), (3, ${hour}, 50, 20, 0)`);
    await open('accounts', 'Accounts');
    const names = () => page.locator('td:first-child').allTextContents();
    await page.getByLabel('Name begins with').fill('ACME');
    await page.getByRole('button', { name: 'Show' }).click();
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

  test('an operator sets limits for one account and lets its windows start again', async (t) => {
    const { page, open, createKey, request } = await openDesk(t, browser);
    const key = await createKey('free', undefined, { account: 'Happy Paws' });
    for (let n = 0; n < 58; n += 1) await request(key, '/pets');
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await page.getByText('60 a minute, 1,000 a day', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Set limits' }).click();
    await page.getByLabel('Requests a minute').fill('70');
    await page.getByLabel(/^For how many days/).fill('3');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/^70 a minute, 1,000 a day, set for this account until 2027-01-05/).waitFor();
    await page.getByText('12 left', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Reset windows' }).click();
    await page.getByRole('button', { name: 'Reset the windows of Happy Paws' }).click();
    await page.getByText('70 left', { exact: true }).waitFor();
  });

  test('an account shows its remaining requests and a banned key, whose ban is lifted', async (t) => {
    const { page, open, confirm, createKey, request, store, clock } = await openDesk(t, browser);
    const key = await createKey('free', undefined, { account: 'Happy Paws' });
    for (let n = 0; n < 58; n += 1) await request(key, '/pets');
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await page.getByText('2 left', { exact: true }).waitFor();
    assert.match(
      (await page.getByText('942 left', { exact: true }).locator('..').textContent()) ?? '',
      /of 1,000/,
    );
    for (let n = 0; n < 62; n += 1) await request(key, '/pets');
    await page.getByText('0 left', { exact: true }).waitFor();
    while ((await store.bans.list()).length === 0) await request(key, '/pets');
    await page.getByRole('button', { name: /^Lift the ban as_stg/ }).click();
    await confirm(/^Lift the ban of/);
    await page.getByText(/The ban of .* is lifted/).waitFor();
    clock.advance(60_000);
    while ((await request(key, '/pets')).status === 429) clock.advance(0);
    await open('audit', 'Audit log');
    await page.getByRole('cell', { name: 'ban.lifted' }).waitFor();
  });

  test('the page of bans lists the banned keys of all accounts in pages, and lifts a ban', async (t) => {
    const { page, open, confirm, createKey, store, clock, openFile } = await openDesk(t, browser);
    await open('bans', 'Bans');
    await page.getByText('No key is banned.').waitFor();
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
    await page
      .getByRole('button', { name: /^Lift the ban as_stg/ })
      .first()
      .click();
    await confirm(/^Lift the ban of/);
    await page.getByText(/The ban of .* is lifted/).waitFor();
    await page.getByText('Warehouse').waitFor({ state: 'detached' });
    assert.ok(!(await store.bans.list()).some((ban) => ban.keyId === keyId));
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByRole('cell', { name: 'as_stg_50…' }).waitFor();
    assert.equal(await rows.count(), 2);
    await open('audit', 'Audit log');
    await page.getByRole('cell', { name: 'ban.lifted' }).waitFor();
    await page.getByLabel('Who').fill('nobody');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('No changes found.').waitFor();
    for (const [query, rows] of [
      ['actor=mira', 3],
      ['actor=mira&since=2027-01-02T12:00:00Z', 3],
      ['actor=mira&until=2027-01-02%2012:00', 0],
      ['actor=mira&since=2027-01-02&until=2027-01-03', 3],
    ] as const) {
      await open(`audit?${query}`, 'Audit log');
      const shown = await page.getByRole('row').allTextContents();
      assert.equal(shown.length, rows, `${query}: ${shown}`);
    }
  });

  test('the time until a window resets is computed from the clock of the service, not of the browser', async (t) => {
    const { page, open, createKey, request } = await openDesk(t, browser);
    await page.evaluate('{ const { now } = Date; Date.now = () => now() + 1e11; }');
    const key = await createKey('free', undefined, { account: 'Happy Paws' });
    await request(key, '/pets');
    await open('accounts/Happy%20Paws', 'Happy Paws');
    const window = async (left: string) =>
      (await page.getByText(left, { exact: true }).locator('..').textContent()) ?? '';
    assert.match(await window('59 left'), /resets in (?:1 min|5\d s)\.$/);
    assert.match(await window('999 left'), /resets in (?:1 d|23 h 59 min)\.$/);
  });

  test('the usage plot spans 7 days, even if requests came in only one hour', async (t) => {
    const { page, open, createKey, request, openFile } = await openDesk(t, browser);
    const key = await createKey('free', undefined, { account: 'Happy Paws' });
    for (let n = 0; n < 3; n += 1) await request(key, '/pets');
    await request(key, '/nothing');
    const file = openFile();
    const count = file.prepare('select sum(requests) as sum from usage_hours');
    await until(
      async () => count.get()?.['sum'],
      (sum) => sum === 4,
      60_000,
    );
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await page.getByText('4 requests, 0 refused, 1 answered with an error.').waitFor();
    const plot = page.getByRole('region', { name: 'The last 7 days' }).locator('figure');
    assert.equal(await plot.getAttribute('data-from'), '2026-12-26T12:00:00.000Z');
    assert.equal(await plot.getAttribute('data-to'), '2027-01-02T12:00:00.000Z');
  });

  test('an account with more keys than fit on a page links to the older keys', async (t) => {
    const { page, open, createKey, openFile } = await openDesk(t, browser);
    await createKey('free', undefined, { account: 'Happy Paws', name: 'the oldest' });
    openFile().exec(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 60)
      insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
      select 'key_' || printf('%016d', n), 1, randomblob(32), 'as_stg_' || n, 'pets:read', 2000000000000 + n from numbers;
      insert into key_bans values ('key_0000000000000001', 2000000000000, 0, 60000, '', 2000000000000)`);
    await open('accounts/Happy%20Paws', 'Happy Paws');
    await page.getByText('There are more keys than the 50 on this page.').waitFor();
    await page.getByRole('link', { name: 'Older keys' }).click();
    await page.getByText('the oldest').waitFor();
    await page.getByText(/^banned for /).waitFor();
    assert.equal(await page.getByText('There are more keys').count(), 0);
  });

  test('a failed action shows the same message as the command', async (t) => {
    const { page, open, createKey } = await openDesk(t, browser);
    await createKey('free', undefined, { account: 'One' });
    await createKey('free', undefined, { account: 'Two' });
    await open('accounts/One', 'One');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('Two');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('an account named "Two" already exists').waitFor();
  });
});
