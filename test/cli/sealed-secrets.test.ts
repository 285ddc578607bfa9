import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
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
