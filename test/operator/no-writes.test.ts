import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ownPage, startConsole } from './console-browser.ts';

const secret = 's'.repeat(32);
const service = await startConsole(
  { after },
  {
    CONSOLE_USER_HEADER: 'X-Forwarded-User',
    CONSOLE_USER_PEERS: '127.0.0.1',
    CONSOLE_USER_SECRET: secret,
  },
);
await service.store.operators.add('mira', 'admin');
const cookie = await service.signIn('mira');
const { token } = await service.sessions.makeToken('mira');
// As a full disk does, this keeps the service from writing.
service.openFile().exec('begin immediate');

async function readStatus(path: string, headers: Record<string, string>): Promise<number> {
  const answer = await fetch(`${service.app.opsUrl}${path}`, { headers: { ...ownPage, ...headers } });
  await answer.arrayBuffer();
  return answer.status;
}

test('a session that exists reads while the store cannot be written', async () => {
  assert.equal(await readStatus('/console/api/overview', { cookie }), 200);
});

test('a token reads while the store cannot be written', async () => {
  assert.equal(await readStatus('/ops/v1/overview', { authorization: `Bearer ${token}` }), 200);
});

test('a proxy signs in while the store cannot be written', async () => {
  const person = { 'x-forwarded-user': 'mira', 'x-console-secret': secret };
  assert.equal(await readStatus('/console/api/overview', person), 200);
});
