import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditKeptMs, consoleActor } from '../../src/audit/audit-log.ts';
import { hourMs } from '../../src/clock.ts';
import { fieldOf, makePlan, order, walk } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';
import { openAdministration } from './administration.ts';

const byConsole = consoleActor('mira', 'con_1');

await describeOnEngines('the audit log', (engine) => {
  test('the audit log is listed newest first in pages with all its filters', async (t) => {
    const { changeAs, keyring, accounts, audit, listEntries, clock } = await openAdministration(t, engine);
    const { id } = await keyring.issue(order({ account: 'Zoo' }));
    await accounts.create('Ark', makePlan('free'));
    clock.advance(hourMs);
    await changeAs(byConsole).keyring.revoke(id);
    await changeAs(byConsole).keyring.revoke(id);
    const actions = async (query: Parameters<typeof listEntries>[0]) =>
      fieldOf(await listEntries(query), 'action');
    assert.deepEqual(await actions({}), ['key.revoked', 'account.created', 'key.created', 'account.created']);
    const accountId = await accounts.findId('Zoo');
    assert.deepEqual(await actions({ accountId }), ['key.revoked', 'key.created', 'account.created']);
    for (const actor of ['con_1', 'mira', 'mira in con_1'])
      assert.deepEqual(await actions({ actor }), ['key.revoked']);
    for (const actor of ['on_1', 'mir', 'con_1 in mira', '%', ''])
      assert.deepEqual(await actions({ actor }), []);
    assert.deepEqual(await actions({ action: 'key.created' }), ['key.created']);
    assert.deepEqual(await actions({ subject: id }), ['key.revoked', 'key.created']);
    assert.deepEqual(await actions({ sinceMs: clock.now() }), ['key.revoked']);
    const walked = await walk((newestId) => audit.list({ limit: 1, newestId }));
    assert.deepEqual(walked, await listEntries());
  });

  test('the audit log keeps rows for a year and is swept in bounded steps', async (t) => {
    const { accounts, audit, store, listEntries, clock } = await openAdministration(t, engine);
    await store.execute(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 2500)
        insert into audit (at_ms, actor_kind, actor, action, subject)
        select ${clock.now()}, 'command', 'ann', 'key.revoked', 'key_' || n from numbers`);
    clock.advance(1);
    await accounts.create('Zoo', makePlan('free'));
    clock.advance(auditKeptMs - 1);
    await audit.sweep();
    assert.equal((await listEntries()).length, 100);
    clock.advance(1);
    await audit.sweep();
    assert.deepEqual(fieldOf(await listEntries(), 'subject'), ['Zoo']);
  });
});
