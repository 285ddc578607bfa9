import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConsoleService, startConsole } from '../operator/console-browser.ts';
import { runInProcess } from '../support/command-line.ts';

async function run({ app, config, clock }: ConsoleService, args = ''): Promise<string> {
  const options = { settings: { OPS_PORT: new URL(app.opsUrl).port }, clock: clock.now };
  const { code, stdout, stderr } = await runInProcess(`console ${args}`, config.databaseUrl, options);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

test('the links that console prints and their sessions work until console --revoke', async (t) => {
  const service = await startConsole(t);
  const [link = '', token = ''] = /^http.*\/console#sign-in=([\w-]{43})$/m.exec(await run(service)) ?? [];
  assert.ok(link.startsWith(service.consoleUrl));
  assert.equal((await fetch(link)).status, 200);
  assert.equal((await service.exchange(token)).status, 204);
  const cookie = await service.signIn();
  const { hash } = new URL(JSON.parse(await run(service, '--json')).url);
  assert.equal((await service.call(cookie, '/session')).status, 200);
  assert.equal(await run(service, '--revoke'), '2 sessions ended; earlier links no longer work\n');
  assert.equal((await service.call(cookie, '/session')).status, 401);
  assert.equal((await service.exchange(hash.slice('#sign-in='.length))).status, 401);
  const later = await service.signIn();
  assert.equal((await service.call(later, '/session')).status, 200);
});
