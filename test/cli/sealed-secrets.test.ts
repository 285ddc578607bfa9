import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../support/command-line.ts';
import { type Ending, makeFolder, startService, type TestService } from '../support/service.ts';

const [one, other] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];

/** Starts a service with this WEBHOOK_SECRET_KEY, on a new store or on the store of an earlier service. */
function start(t: Ending, WEBHOOK_SECRET_KEY: string, earlier?: TestService): Promise<TestService> {
  const store = earlier && { DATABASE_URL: earlier.config.databaseUrl };
  return startService(t, { ENVIRONMENT: 'development', WEBHOOK_SECRET_KEY, ...store });
}

async function createWebhook(service: TestService): Promise<string> {
  const made = await service.send(await service.createKey(), 'POST /webhooks', {
    url: 'http://127.0.0.1:1/',
  });
  return ((await made.json()) as { id: string }).id;
}

test('a store whose webhook secrets no key decrypts stops the start with the reason', async (t) => {
  const sealing = await start(t, one);
  const id = await createWebhook(sealing);
  await sealing.stop();
  const message = new RegExp(`^WEBHOOK_SECRET_KEY does not decrypt .* ${id}`);
  const { databaseUrl } = sealing.config;
  for (const key of ['', other]) {
    await assert.rejects(start(t, key, sealing), { name: 'OperatorError', message });
    const settings = { WEBHOOK_SECRET_KEY: key, PORT: '0', OPS_PORT: '0' };
    const { code, stdout } = await runInProcess('doctor', databaseUrl, { settings });
    assert.equal(code, 1);
    assert.match(stdout, /^problem +webhooks +WEBHOOK_SECRET_KEY does not decrypt/m);
  }
  assert.equal((await runInProcess(`webhooks disable ${id}`, databaseUrl)).code, 0);
  await start(t, '', sealing);
});

test('after a restore, no webhook is enabled without the key of its secrets, and the service starts again', async (t) => {
  const sealing = await start(t, one);
  const id = await createWebhook(sealing);
  const { databaseUrl } = sealing.config;
  const backup = join(await makeFolder(t), 'backup.db');
  const run = (line: string, WEBHOOK_SECRET_KEY = '') =>
    runInProcess(line, databaseUrl, { settings: { WEBHOOK_SECRET_KEY } });
  assert.equal((await run(`backup ${backup}`)).code, 0);
  await sealing.stop();
  assert.equal((await run(`restore ${backup}`)).code, 0);
  for (const line of ['resume --all', `resume ${id}`, `enable ${id}`]) {
    const { code, stderr } = await run(`webhooks ${line}`);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`WEBHOOK_SECRET_KEY does not decrypt the secrets of ${id}: set the key`));
  }
  await (await start(t, '', sealing)).stop();
  assert.equal((await run('webhooks resume --all', one)).code, 0);
  await start(t, one, sealing);
});

test('a metric counts the webhooks whose secret no key decrypts', async (t) => {
  const first = await start(t, one);
  await createWebhook(first);
  // A readable secret beside the sealed one: the sealing key is lost for one webhook only.
  first.openFile().exec('create table aside as select * from webhook_secrets; delete from webhook_secrets');
  await first.stop();
  const second = await start(t, other, first);
  await createWebhook(second);
  second.openFile().exec(`insert into webhook_secrets
    select * from aside where id not in (select id from webhook_secrets); drop table aside`);
  await second.stop();
  const { app } = await start(t, other, first);
  const metrics = await (await fetch(`${app.opsUrl}/metrics`)).text();
  assert.match(metrics, /^animal_store_webhook_secrets_unreadable 1$/m);
});
