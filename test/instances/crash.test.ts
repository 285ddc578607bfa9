import assert from 'node:assert/strict';
import { postgresAt } from '../support/engines.ts';
import {
  add,
  amplePlan,
  ask,
  elementAt,
  readJson,
  send,
  startInstances,
  untilAnswered,
} from '../support/instances.ts';
import { testOnCluster as test } from '../support/postgres-cluster.ts';
import { connectPostgres } from '../support/postgres-databases.ts';

const rounds = 5;
const backMsMax = 20_000;

test('no instance gives a stale answer after the server has restarted itself', async ({ t, primary }) => {
  const instances = await startInstances(t, { postgres: postgresAt(primary.url), count: 2 });
  const { key } = await instances.createKey(...amplePlan, '--scopes', 'all');
  const [reader, writer] = [elementAt(instances.services, 0), elementAt(instances.services, 1)];
  const { id } = await readJson<{ id: number }>(add(writer, key, 'Rex'));
  const read = (headers: Record<string, string> = {}) => ask(reader, key, `/pets?id=${id}`, { headers });
  /** Repeats an edit while it is 503, because the first use of a lost connection fails. */
  async function edit(service: typeof writer, name: string, headers: Record<string, string> = {}) {
    for (;;) {
      const { status } = await send(service, key, `PATCH /pets/${id}`, { name }, headers);
      if (status !== 503) return status;
    }
  }
  const started = await primary.execute('select pg_postmaster_start_time()::text as at');

  for (let round = 0; round < rounds; round += 1) {
    // These transactions are lost, and their ids come again.
    const victim = await connectPostgres(t, instances.store.url);
    await victim.query(`begin; update pets set name = 'lost' where id = ${id}`);
    const cached = await read();
    const etag = cached.headers.get('etag') ?? assert.fail();
    assert.equal((await read({ 'if-none-match': etag })).status, 304);
    const { rows } = await victim.query('select pg_backend_pid()::int as pid');
    process.kill(Number(rows[0].pid), 'SIGKILL');
    for (const service of instances.services)
      await untilAnswered(service, key, ({ status }) => status === 200, backMsMax);

    const name = `round ${round}`;
    assert.equal(await edit(writer, name), 200);
    const fresh = await read({ 'if-none-match': etag });
    assert.equal(fresh.status, 200);
    assert.equal((await readJson<{ name: string }[]>(fresh))[0]?.name, name);
    assert.equal(await edit(reader, 'stale', { 'if-match': etag }), 412);
    const now = fresh.headers.get('etag') ?? assert.fail();
    assert.equal(await edit(reader, `${name} again`, { 'if-match': now }), 200);
  }
  assert.deepEqual(await primary.execute('select pg_postmaster_start_time()::text as at'), started);
});
