import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram, serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

const ownPage = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };

/** Starts a service with a console, and returns functions that run the command on its store and use its links. */
async function startDesk(t: Parameters<typeof serveInProcess>[0]) {
  const settings = { DATABASE_URL: `sqlite:${await makeFolder(t)}/store.db`, ENVIRONMENT: 'staging' };
  const { opsUrl } = await serveInProcess(t, { settings });
  const { port } = new URL(opsUrl);

  async function run(...args: readonly string[]): Promise<string> {
    const ended = await runProgram(['console', ...args], { settings: { ...settings, OPS_PORT: port } });
    assert.deepEqual([ended.code, ended.stderr], [0, '']);
    return ended.stdout;
  }

  /** Exchanges the token of a link by POST, as the page of the link does. */
  function follow(link: string): Promise<Response> {
    const { origin, pathname, hash } = new URL(link);
    const body = JSON.stringify({ token: hash.slice('#sign-in='.length) });
    return fetch(`${origin}${pathname}/api/sign-in`, { method: 'POST', headers: ownPage, body });
  }

  async function signIn(link: string): Promise<string> {
    const [cookie = ''] = ((await follow(link)).headers.get('set-cookie') ?? '').split(';');
    return cookie;
  }

  const readStatus = async (cookie: string) =>
    (await fetch(`${opsUrl}/console/api/session`, { headers: { ...ownPage, cookie } })).status;

  return { port, run, follow, signIn, readStatus };
}

test('console prints a link to the running service, and the link signs in once', async (t) => {
  const { port, run, follow, signIn, readStatus } = await startDesk(t);
  const printed = await run();
  assert.match(printed, new RegExp(`^http://127\\.0\\.0\\.1:${port}/console#sign-in=[\\w-]{43}\\n$`));
  const link = printed.trim();
  const page = await fetch(link);
  assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  assert.equal(await readStatus(await signIn(link)), 200);
  assert.equal((await follow(link)).status, 401);
});

test('console --revoke ends all sessions and links, and prints the number of sessions', async (t) => {
  const { run, follow, signIn, readStatus } = await startDesk(t);
  const readLink = async () => (JSON.parse(await run('--json')) as { url: string }).url;
  const [cookie, unused] = [await signIn(await readLink()), await readLink()];
  assert.equal(await readStatus(cookie), 200);
  assert.equal(await run('--revoke'), '1 session ended; earlier links no longer work\n');
  assert.equal(await readStatus(cookie), 401);
  assert.equal((await follow(unused)).status, 401);
  assert.equal(await readStatus(await signIn(await readLink())), 200);
});
