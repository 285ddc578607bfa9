import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConsoleService, startConsole } from '../operator/console-browser.ts';
import { runInProcess } from '../support/command-line.ts';

/** Runs the command on the store of a service. */
async function run({ app, config, clock }: ConsoleService, args = ''): Promise<string> {
  const options = { settings: { OPS_PORT: new URL(app.opsUrl).port }, clock: clock.now };
  const { code, stdout, stderr } = await runInProcess(`console ${args}`, config.databaseUrl, options);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

test('console prints a link to the running service, whose token signs in', async (t) => {
  const service = await startConsole(t);
  const [link = '', token = ''] = /^http.*\/console#sign-in=([\w-]{43})$/m.exec(await run(service)) ?? [];
  const page = await fetch(link);
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  assert.ok(link.startsWith(service.consoleUrl));
  assert.equal((await service.exchange(token)).status, 204);
});

test('console --revoke ends all sessions and links, and prints the number of sessions', async (t) => {
  const service = await startConsole(t);
  const cookie = await service.signIn();
  const { hash } = new URL(JSON.parse(await run(service, '--json')).url);
  assert.equal((await service.call(cookie, '/session')).status, 200);
  assert.equal(await run(service, '--revoke'), '1 session ended; earlier links no longer work\n');
  assert.equal((await service.call(cookie, '/session')).status, 401);
  assert.equal((await service.exchange(hash.slice('#sign-in='.length))).status, 401);
  const later = await service.signIn();
  assert.equal((await service.call(later, '/session')).status, 200);
});
