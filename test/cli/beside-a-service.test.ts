import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { openStore } from '../../src/store.ts';
import { makePlan, order } from '../accounts/world.ts';
import { runProgram, serveInProcess, until } from '../support/processes.ts';

/** Time in ms within which a command takes effect on a service of the same machine (contract section 5). */
const effectMsMax = 2_000;
const ample = makePlan('enterprise', 1_000_000, 1_000_000);

test('while a service runs', async (t) => {
  const service = await serveInProcess(t);
  const { settings } = service;
  const { DATABASE_URL: databaseUrl } = settings;
  const file = databaseUrl.slice('sqlite:'.length);
  const store = await openStore({ databaseUrl, environment: 'staging' }, systemClock);
  t.after(() => store.close());

  /** Runs a command in its own process. Throws if it fails. */
  async function run(args: string): Promise<string> {
    const { code, stdout, stderr } = await runProgram(args.split(' '), { settings });
    assert.deepEqual([code, stderr], [0, ''], args);
    return stdout;
  }

  async function ask(key: string) {
    const answer = await fetch(`${service.url}/pets`, { headers: { authorization: `Bearer ${key}` } });
    const { code } = (await answer.json()) as { code?: string };
    return { status: answer.status, code, limit: answer.headers.get('x-ratelimit-limit') };
  }

  await t.test('a key from keys create works immediately', async () => {
    const { key } = JSON.parse(await run('keys create --plan free --json'));
    assert.equal((await ask(key)).status, 200);
  });

  await t.test('keys revoke takes effect within 2 seconds', async () => {
    const { id, key } = await store.keyring.issue(order({ plan: ample }));
    assert.equal((await ask(key)).status, 200);
    assert.equal(await run(`keys revoke ${id}`), `${id} is revoked\n`);
    const isRefused = ({ status }: { status: number }) => status === 401;
    assert.equal((await until(() => ask(key), isRefused, effectMsMax)).code, 'api_key_revoked');
  });

  await t.test('import, export and migrate succeed', async () => {
    const { key } = await store.keyring.issue(order());
    const examples = join(import.meta.dirname, '../../examples/animals.ndjson');
    const { imported } = JSON.parse(await run(`import ${examples} --json`));
    assert.ok(imported > 0);
    const listed = await fetch(`${service.url}/pets`, { headers: { authorization: `Bearer ${key}` } });
    assert.equal(((await listed.json()) as unknown[]).length, Math.min(imported, 20));
    const { exported } = JSON.parse(await run(`export --output ${file}.ndjson --json`));
    assert.equal(exported, imported);
    assert.deepEqual(JSON.parse(await run('migrate --json')), { engine: 'sqlite', schema: 'newest' });
  });

  await t.test('vacuum gives unused pages back while the service adds and lists animals', async () => {
    const { key } = await store.keyring.issue(order({ plan: ample }));
    const raw = new DatabaseSync(file, { timeout: 5_000 });
    t.after(() => raw.close());
    const filler = 'insert into filler select zeroblob(64 * 1024 * 1024)';
    raw.exec(`create table filler (bytes blob); ${filler}; drop table filler`);
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    let isOver = false;
    const ids: number[] = [];
    const adding = (async () => {
      while (!isOver) {
        const body = '{"name":"Rex","categoryId":77}';
        const added = await fetch(`${service.url}/pets`, { method: 'POST', headers, body });
        assert.equal(added.status, 201);
        ids.push(((await added.json()) as { id: number }).id);
        assert.equal((await ask(key)).status, 200);
      }
    })();
    const { before, after } = JSON.parse(await run('vacuum --json'));
    assert.ok(before > 64 * 2 ** 20 && after < 4 * 2 ** 20, `${before} ${after}`);
    isOver = true;
    await adding;
    const rows = raw.prepare('select id from pets where category_id = 77 order by id').all();
    const kept = rows.map(({ id }) => id);
    assert.deepEqual(kept, ids);
    assert.deepEqual({ ...raw.prepare('pragma quick_check').get() }, { quick_check: 'ok' });
    assert.match(await run('vacuum'), /^gave 0\.0 MiB back: the store takes \d\.\d MiB\n$/);
  });
});
