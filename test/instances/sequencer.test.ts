import assert from 'node:assert/strict';
import { findPostgres } from '../support/engines.ts';
import { add, amplePlan, ask, readJson, startInstances, untilWaiting } from '../support/instances.ts';
import { connectPostgres } from '../support/postgres-databases.ts';
import { until } from '../support/processes.ts';
import { testsUnless } from '../support/programs.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);

/** Selects the server process that waits at the gate. */
const atGate = `select pid from pg_locks join pg_database on pg_database.oid = database
  where datname = current_database() and locktype = 'advisory' and objid = 1 and not granted`;
/** Time in ms after which the added event is surely being moved into the feed, on a busy machine. */
const movingMsMax = 10_000;

test('a waiting client gets the next event although the assigning instance is killed', async (t) => {
  const { services, store, createKey } = await startInstances(t, { postgres, count: 2 });
  const { key } = await createKey(...amplePlan, '--scopes', 'all');
  const [dying = assert.fail(), other = assert.fail()] = services;
  // No position can be assigned while this connection holds the lock.
  const gate = await connectPostgres(t, store.url);
  await gate.query(`create function pass_gate() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(1); return new; end $$`);
  await gate.query('create trigger gate before insert on events for each row execute function pass_gate()');
  await gate.query('select pg_advisory_lock(1)');

  const waiting = readJson<{ type: string; data: { id: number } }[]>(ask(other, key, '/events?wait=20'));
  await untilWaiting(other, 1);
  // The other instance is stopped, so that it cannot assign the position first.
  other.child.kill('SIGSTOP');
  const { id } = await readJson<{ id: number }>(add(dying, key, 'Rex'));
  const listAtGate = () => store.execute<{ pid: number }>(atGate);
  const [sequencer] = await until(listAtGate, ({ length }) => length === 1, movingMsMax);
  await dying.end('SIGKILL');
  // The server ends the connection of the dead instance, and its transaction with it.
  await store.execute(`select pg_terminate_backend(${sequencer?.pid}, 5000)`);
  assert.deepEqual(await store.execute('select id from events'), []);
  // The end of the connection opens the gate.
  await gate.end();
  other.child.kill('SIGCONT');
  const got = (await waiting).map(({ type, data }) => [type, data.id]);
  assert.deepEqual(got, [['pet.added', id]]);
});
