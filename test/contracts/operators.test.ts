import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { commandActor } from '../../src/audit/audit-log.ts';
import { dayMs } from '../../src/clock.ts';
import { fieldOf } from '../accounts/world.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { openAdministration } from './administration.ts';

async function openOperators(t: TestContext, engine: Engine) {
  const world = await openAdministration(t, engine);
  const { operators, sessions } = world.changeAs(commandActor('omar'));
  const signIn = async (name: string) =>
    (await sessions.signIn((await sessions.makeLink(name)).token)) ??
    assert.fail('the link gives no session');
  return { ...world, operators, sessions, signIn };
}

await describeOnEngines('operators', (engine) => {
  test('a session has the name and the role of its operator', async (t) => {
    const { operators, sessions, signIn } = await openOperators(t, engine);
    await operators.add('mira', 'support');
    const found = await sessions.find(await signIn('mira'), 'session');
    assert.deepEqual([found?.name, found?.role], ['mira', 'support']);
  });

  test('a session of a person who is not an operator is that of an admin', async (t) => {
    const { sessions, signIn } = await openOperators(t, engine);
    const found = await sessions.find(await signIn('root'), 'session');
    assert.deepEqual([found?.name, found?.role], ['root', 'admin']);
  });

  test('a link for a named operator is refused if there is none', async (t) => {
    const { sessions } = await openOperators(t, engine);
    await assert.rejects(sessions.makeLink('mira', true), { name: 'OperatorError' });
  });

  test('removing an operator ends its links, sessions and tokens', async (t) => {
    const { operators, sessions, signIn } = await openOperators(t, engine);
    await operators.add('mira', 'admin');
    const [session, { token }] = [await signIn('mira'), await sessions.makeToken('mira')];
    const link = await sessions.makeLink('mira');
    await operators.remove('mira');
    assert.equal(await sessions.find(session, 'session'), null);
    assert.equal(await sessions.find(token, 'token'), null);
    assert.equal(await sessions.signIn(link.token), null);
  });

  test('the links and sessions of a person who becomes an operator have the role, and end with it', async (t) => {
    const { operators, sessions, signIn } = await openOperators(t, engine);
    const [session, other] = [await signIn('mira'), await signIn('root')];
    const link = await sessions.makeLink('mira');
    await operators.add('mira', 'reader');
    assert.equal((await sessions.find(session, 'session'))?.role, 'reader');
    assert.equal((await sessions.find(other, 'session'))?.role, 'admin');
    assert.equal((await operators.list())[0]?.sessions, 1);
    await operators.remove('mira');
    assert.equal(await sessions.find(session, 'session'), null);
    assert.equal(await sessions.signIn(link.token), null);
    assert.equal((await sessions.find(other, 'session'))?.role, 'admin');
  });

  test('an operator who is added again has none of the earlier sessions', async (t) => {
    const { operators, sessions, signIn } = await openOperators(t, engine);
    await operators.add('mira', 'admin');
    const session = await signIn('mira');
    await operators.remove('mira');
    await operators.add('mira', 'reader');
    assert.equal(await sessions.find(session, 'session'), null);
    assert.deepEqual(await operators.list(), [
      { name: 'mira', role: 'reader', createdAtMs: Date.UTC(2027, 0, 2, 12), sessions: 0, tokens: 0 },
    ]);
  });

  test('ending all sessions leaves the tokens', async (t) => {
    const { operators, sessions, signIn } = await openOperators(t, engine);
    await operators.add('mira', 'admin');
    await signIn('mira');
    await signIn('root');
    await sessions.makeToken('mira');
    assert.equal(await sessions.revokeAll(), 2);
    assert.deepEqual(fieldOf(await sessions.list(), 'kind'), ['token']);
  });

  test('the pages of the operators have each of them once, by name', async (t) => {
    const { operators } = await openOperators(t, engine);
    for (const name of ['omar', 'mira', 'rita']) await operators.add(name, 'reader');
    const first = await operators.listPage(2, '');
    assert.deepEqual([fieldOf(first.items, 'name'), first.next], [['mira', 'omar'], 'rita']);
    const second = await operators.listPage(2, 'rita');
    assert.deepEqual([fieldOf(second.items, 'name'), second.next], [['rita'], null]);
  });

  test('the pages of the sessions have each of them once, newest first', async (t) => {
    const { operators, sessions, clock } = await openOperators(t, engine);
    await operators.add('mira', 'admin');
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      made.unshift((await sessions.makeToken('mira')).id);
      if (n % 2 === 0) clock.advance(1);
    }
    const listed: string[] = [];
    for (let from: Parameters<typeof sessions.listPage>[1] = null; ; ) {
      const { items, next } = await sessions.listPage(2, from);
      listed.push(...fieldOf(items, 'id'));
      if (next === null) break;
      from = next;
    }
    assert.deepEqual(listed.toSorted(), made.toSorted());
    assert.equal(listed.at(-1), made.at(-1));
  });

  test('an expired token is listed and counted no more', async (t) => {
    const { operators, sessions, clock } = await openOperators(t, engine);
    await operators.add('mira', 'admin');
    await sessions.makeToken('mira', dayMs);
    assert.equal((await sessions.list()).length, 1);
    assert.deepEqual(fieldOf(await operators.list(), 'tokens'), [1]);
    clock.advance(dayMs);
    assert.deepEqual(await sessions.list(), []);
    assert.deepEqual(fieldOf(await operators.list(), 'tokens'), [0]);
  });

  test('an instance of release 1.2.0 finds no session of an operator', async (t) => {
    const { operators, signIn, store } = await openOperators(t, engine);
    await operators.add('mira', 'reader');
    const former = hash('sha256', await signIn('mira'), 'hex');
    const [row] = await store.execute('select token_hash from console_sessions');
    const { token_hash: stored = assert.fail() } = row as { readonly token_hash?: Uint8Array };
    assert.notEqual(Buffer.from(stored).toString('hex'), former);
  });

  test('the audit log finds the acts of a claimed name', async (t) => {
    const { operators, listEntries } = await openOperators(t, engine);
    await operators.add('mira', 'reader');
    const [entry] = await listEntries({ actor: 'omar' });
    assert.deepEqual([entry?.action, entry?.actor], ['operator.added', commandActor('omar')]);
    assert.deepEqual(await listEntries({ actor: 'oma' }), []);
  });
});
