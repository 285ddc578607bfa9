import assert from 'node:assert/strict';
import { postgresAt } from '../support/engines.ts';
import { add, amplePlan, elementAt, readJson, startInstances } from '../support/instances.ts';
import { testOnCluster as test } from '../support/postgres-cluster.ts';
import { executePostgres } from '../support/postgres-databases.ts';

/** Number of attempts of a client that repeats a request. */
const attemptsMax = 60;

test('a replay waits for a missing synchronous standby as the first answer did', async ({
  t,
  primary,
  standby,
}) => {
  const instances = await startInstances(t, { postgres: postgresAt(primary.url), count: 1 });
  const service = elementAt(instances.services, 0);
  const { key } = await instances.createKey(...amplePlan);
  assert.equal((await add(service, key, 'Rex')).status, 201);

  await standby.kill();
  assert.equal((await add(service, key, 'Bella', 'key-1')).status, 503);
  await primary.kill();
  await primary.start();
  const records = () => instances.store.execute('select from first_answers');
  assert.equal((await records()).length, 1, 'the primary has the record');
  // A connection from before the restart fails at once, the next one waits for the standby.
  for (let attempt = 0; attempt < 3; attempt += 1)
    assert.equal((await add(service, key, 'Bella', 'key-1')).status, 503);

  await standby.start();
  let replayed = await add(service, key, 'Bella', 'key-1');
  for (let attempt = 1; replayed.status !== 201 && attempt < attemptsMax; attempt += 1)
    replayed = await add(service, key, 'Bella', 'key-1');
  assert.equal(replayed.headers.get('idempotent-replayed'), 'true');
  const { id } = await readJson<{ id: number }>(replayed);
  const copy = new URL(standby.url);
  copy.pathname = new URL(instances.store.url).pathname;
  const copied = await executePostgres(copy.href, `select name from pets where id = ${id}`);
  assert.deepEqual(copied, [{ name: 'Bella' }]);
  await primary.alterSystem('reset synchronous_standby_names');
});
