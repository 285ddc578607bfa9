import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { runProgram, serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

test('a store whose webhook secrets no key decrypts stops the start with one line', async (t) => {
  const folder = await makeFolder(t);
  const settings = {
    ENVIRONMENT: 'development',
    DATABASE_URL: `sqlite:${join(folder, 'store.db')}`,
    PORT: '0',
    OPS_PORT: '0',
  };
  const sealing = { ...settings, WEBHOOK_SECRET_KEY: randomBytes(32).toString('base64') };
  const service = await serveInProcess(t, { settings: sealing });
  const response = await fetch(`${service.url}/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'http://127.0.0.1:1/' }),
  });
  const { id } = (await response.json()) as { id: string };
  await service.end('SIGTERM');

  for (const key of ['', randomBytes(32).toString('base64')]) {
    const refused = await runProgram(['serve'], { settings: { ...settings, WEBHOOK_SECRET_KEY: key } });
    assert.deepEqual([refused.code, refused.stderr.split('\n').length], [1, 2]);
    assert.match(refused.stderr, new RegExp(`^error: WEBHOOK_SECRET_KEY does not decrypt .* ${id}`));
  }
  const { code } = await runProgram(['webhooks', 'disable', id], { settings });
  assert.equal(code, 0);
  await (await serveInProcess(t, { settings })).end('SIGTERM');
});

test('if a key decrypts only some of the secrets, the service starts and a metric counts the other webhooks', async (t) => {
  const DATABASE_URL = `sqlite:${join(await makeFolder(t), 'store.db')}`;
  const start = (key: string) =>
    serveInProcess(t, { settings: { DATABASE_URL, ENVIRONMENT: 'development', WEBHOOK_SECRET_KEY: key } });
  const [lost, kept] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const first = await start(lost);
  const headers = { authorization: `Bearer ${first.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ url: 'http://127.0.0.1:1/' });
  const create = async ({ url }: { readonly url: string }) =>
    assert.equal((await fetch(`${url}/webhooks`, { method: 'POST', headers, body })).status, 201);
  await create(first);
  await first.end('SIGTERM');
  // A readable secret beside the sealed one: the sealing key is lost for one webhook only.
  const store = new DatabaseSync(new URL(DATABASE_URL.replace('sqlite:', 'file:')));
  store.exec(`create table aside as select * from webhook_secrets; delete from webhook_secrets`);
  const second = await start(kept);
  await create(second);
  await second.end('SIGTERM');
  store.exec(
    'insert into webhook_secrets select * from aside where id not in (select id from webhook_secrets)',
  );
  store.exec('drop table aside');
  store.close();
  for (let round = 0; round < 2; round += 1) {
    const service = await start(kept);
    const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text();
    assert.match(metrics, /^animal_store_webhook_secrets_unreadable 1$/m);
    await service.end('SIGTERM');
  }
});
