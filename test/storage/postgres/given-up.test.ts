import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sql } from 'kysely';
import { connectionsDefault } from '../../../src/setting-values.ts';
import { type Database, statement } from '../../../src/storage/database.ts';
import { openPostgres } from '../../../src/storage/postgres/database.ts';
import { divideConnections } from '../../../src/storage/postgres/pool.ts';
import { addWindow, selectSubjects, unavailable } from '../../contracts/window-rows.ts';
import { findPostgres } from '../../support/engines.ts';
import { startPostgresCluster, whyNoPostgresCluster } from '../../support/postgres-cluster.ts';
import { succeeds } from '../../support/processes.ts';
import { eventually } from '../../support/redis-server.ts';
import { startRelay } from '../../support/relay.ts';

const postgres = await findPostgres();
/** The server may take half a second for an answer. */
const shortly = '?query_timeout=500';
const { writes } = divideConnections(connectionsDefault);
const processesSql = `select pid from pg_stat_activity where application_name = 'animal-store'`;
let written = 0;

const write = (database: Database) => addWindow(database, `${written++}`);

describe('a connection to PostgreSQL that is given up', {
  skip: whyNoPostgresCluster() || postgres.skip,
}, () => {
  test('counts until its commit ends, so that reads go on while a synchronous standby is lost', async (t) => {
    const { primary, standby } = await startPostgresCluster(t);
    const database = await openPostgres(`${primary.url}${shortly}`);
    t.after(() => database.close());
    await write(database);
    await standby.kill();
    for (let round = 0; round < writes + 2; round += 1) {
      const [added, read] = await Promise.allSettled([write(database), database.read(selectSubjects, {})]);
      assert.equal(added.status === 'rejected' && added.reason.code, 'unavailable');
      assert.equal(read.status, 'fulfilled');
      assert.ok((await primary.execute(processesSql)).length <= connectionsDefault);
    }
    const commits = `${processesSql} and wait_event = 'SyncRep'`;
    assert.equal((await primary.execute(commits)).length, writes);
    await primary.alterSystem('reset synchronous_standby_names');
    await eventually(() => succeeds(write(database)));
  });

  test('is free again when its statement was lost with the network', async (t) => {
    const store = await postgres.createStore(t);
    const relay = await startRelay(t, store.url);
    const database = await store.open(`${relay.url}${shortly}`);
    await Promise.all(Array.from({ length: 20 }, () => write(database)));
    relay.silence();
    for (let count = 0; count <= writes; count += 1) await assert.rejects(write(database), unavailable);
    await relay.mend();
    await eventually(() => succeeds(write(database)));
  });

  test('is noticed by the server, because every connection sets its keepalives', async (t) => {
    const database = await (await postgres.createStore(t)).open();
    const tcp = ['keepalives_idle', 'keepalives_interval', 'keepalives_count', 'user_timeout'];
    const shown = tcp.map((name) => sql`current_setting(${sql.lit(`tcp_${name}`)})`);
    const select = statement((query) =>
      query.selectNoFrom(sql<string>`concat_ws(' ', ${sql.join(shown)})`.as('settings')),
    );
    assert.deepEqual(await database.read(select, {}), [{ settings: '10 5 3 25000' }]);
  });
});
