import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findBlocks, readDocument } from '../docs/markdown.ts';
import { examineWith, expectFinding } from '../doctor/examined.ts';
import { runInProcess } from '../support/command-line.ts';
import {
  add,
  amplePlan,
  ask,
  elementAt,
  type MadeKey,
  readJson,
  send,
  untilAnswered,
} from '../support/instances.ts';
import { migrateAsBefore, migrationsOf110 } from '../support/older-schema.ts';
import { addressOf, type PostgresServer, testOnCluster as test } from '../support/postgres-cluster.ts';
import { executePostgres } from '../support/postgres-databases.ts';
import { openDumpFolder } from '../support/postgres-tools.ts';
import { type ServiceProcess, serveInProcess } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';

const backMsMax = 10_000;

const blocks = findBlocks(await readDocument('docs/operations/postgresql.md'));
const findCode = (part: RegExp) => blocks.find(({ code }) => part.test(code))?.code ?? assert.fail(`${part}`);

/** Returns the address of the guide's database as one of its users. */
function addressAs(user: string, ...servers: readonly PostgresServer[]): string {
  const url = addressOf(...servers);
  return url.replace(/\/\/[^@]+@/, `//${user}@`).replace(/[^/]+$/, 'animal_store');
}

/** Creates the users and the database of the guide, gives them their rights. */
async function followGuide(primary: PostgresServer): Promise<string> {
  const { hostname, port, username } = new URL(primary.url);
  const env = { ...process.env, PGHOST: hostname, PGPORT: port, PGUSER: username, PGDATABASE: 'postgres' };
  await promisify(execFile)('sh', ['-ec', findCode(/^psql /m)], { env });
  const owner = addressAs('store_owner', primary);
  await executePostgres(owner, findCode(/^grant /m));
  return owner;
}

async function command(url: string, line: string, stdin = ''): Promise<string> {
  const ran = await runInProcess(line, url, { stdin, settings: { ENVIRONMENT: 'development' } });
  assert.equal(ran.code, 0, ran.stderr + ran.stdout);
  return ran.stdout;
}

/** Sends a request of each kind that writes, and runs the commands that do. */
async function useEverything(service: ServiceProcess, key: string, url: string): Promise<void> {
  const done = async (endpoint: string, body?: object) => {
    const response = await send(service, key, endpoint, body);
    assert.ok(response.ok, `${endpoint}: ${response.status}`);
    return response.status === 204 ? { id: '' } : await readJson<{ id: string | number }>(response);
  };
  assert.equal((await add(service, key, 'Rex', `${Math.random()}`)).status, 201);
  const { id } = await done('POST /pets', { name: 'Max', categoryId: 1 });
  await done(`PATCH /pets/${id}`, { name: 'Moritz' });
  await done('PUT /categories/1', { name: `Dogs ${id}` });
  for (const end of ['cancel', 'complete', 'return']) {
    const order = end === 'return' ? null : await done('POST /orders', { petId: id });
    const { id: last } =
      order ?? elementAt(await readJson<{ id: number }[]>(ask(service, key, '/orders')), 0);
    await done(`POST /orders/${last}/${end}`);
  }
  await done(`DELETE /pets/${id}`);
  const made = await done('POST /keys', { scopes: ['pets:read'] });
  await done(`DELETE /keys/${made.id}`);
  const webhook = await done('POST /webhooks', { url: 'http://127.0.0.1:9/hook' });
  await done(`DELETE /webhooks/${webhook.id}`);

  const imported = await command(url, 'import - --format csv', 'name,categoryId\nRex,1\nTom,2\n');
  assert.match(imported, /^imported 2 animals/);
  await command(url, 'accounts create Zoo --plan free');
  await command(url, 'accounts delete Zoo --confirm Zoo');
  assert.match(await command(url, 'export --format csv'), /Tom/);
  expectFinding(await examineWith({ DATABASE_URL: url }), 'promotion', 'ok', /can skip lost ids/);
}

test('the least rights of the guide are enough for all work before and after a promotion', async ({
  t,
  primary,
  standby,
}) => {
  await command(await followGuide(primary), 'migrate');
  const url = addressAs('animal_store', primary, standby);
  const { key } = JSON.parse(
    await command(url, `keys create --scopes all ${amplePlan.join(' ')} --json`),
  ) as MadeKey;
  const service = await serveInProcess(t, { settings: { DATABASE_URL: url, ENVIRONMENT: 'development' } });
  const receiver = await startReceiver(t);
  const order = { url: receiver.url, types: ['pet.added'] };
  assert.equal((await send(service, key, 'POST /webhooks', order)).status, 201);
  await useEverything(service, key, url);
  const received = receiver.received.length;

  await primary.kill();
  await standby.promote();
  await standby.alterSystem('reset synchronous_standby_names');
  await untilAnswered(service, key, ({ status }) => status === 200, backMsMax);
  await useEverything(service, key, url);
  const [newest] = await readJson<{ id: number }[]>(ask(service, key, '/pets?limit=1'));
  assert.ok((newest?.id ?? 0) > 1_000_000, 'the ids skip ahead');
  await receiver.untilReceived(received + 2);
});

test('a restore by the owner of the tables leaves the user its rights', async ({ t, primary }) => {
  const owner = await followGuide(primary);
  await command(owner, 'migrate');
  const asAdmin = Object.assign(new URL(primary.url), { pathname: '/animal_store' }).href;
  await executePostgres(asAdmin, 'create publication everything for all tables');
  const backups = findBlocks(await readDocument('docs/operations/backup-and-restore.md'));
  const run = await openDumpFolder(t);
  for (const tool of [/^pg_dump /m, /^pg_restore --clean /m])
    await run(owner, backups.find(({ code }) => tool.test(code))?.code ?? assert.fail(`${tool}`));
  await command(addressAs('animal_store', primary), 'accounts create Zoo --plan free');
});

test('a user with the least rights of the guide is refused a migration, which changes nothing', async ({
  primary,
}) => {
  const owner = await followGuide(primary);
  const store = { url: owner, execute: <Row>(sql: string) => executePostgres<Row>(owner, sql) };
  await migrateAsBefore(store, migrationsOf110);
  const { code, stderr } = await runInProcess('migrate', addressAs('animal_store', primary));
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: the database \S+ cannot be migrated: [^\n]+: run "animal-store migrate" as the owner of the tables\n$/,
  );
  const run = await store.execute<{ name: string }>('select name from schema_migrations order by name');
  assert.deepEqual(
    run.map(({ name }) => name),
    migrationsOf110,
  );
});
