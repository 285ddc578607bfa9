import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { consoleOperations } from '../../src/operator/console/console.ts';
import { coversRole, roles } from '../../src/operator-role.ts';
import { fieldOf } from '../accounts/world.ts';
import { startConsole } from './console-browser.ts';

const service = await startConsole({ after });
const apiUrl = `${service.app.opsUrl}/ops/v1`;
const { operators, sessions } = service.store;
for (const role of roles) await operators.add(`the-${role}`, role);

/** Returns the method and a path of an operation. Whatever the path names does not exist. */
function addressOf({ address }: (typeof consoleOperations)[number]) {
  const [method = '', path = ''] = address.replaceAll(/\{\w+\}/g, '99999').split(' ');
  return { method, path };
}

async function readCode(answer: Response): Promise<string | null> {
  if (answer.ok) return null;
  return ((await answer.json()) as { readonly code: string }).code;
}

test('a reader only reads', () => {
  const written = consoleOperations.filter(({ role, method }) => role === 'reader' && method !== 'GET');
  assert.deepEqual(fieldOf(written, 'address'), []);
});

test('support may do exactly what the documentation lists', () => {
  const allowed = consoleOperations.filter(({ role }) => role === 'support');
  assert.deepEqual(fieldOf(allowed, 'id').sort(), [
    'cancelOrder',
    'changePet',
    'disableWebhook',
    'enableWebhook',
    'liftBan',
    'resumeAccount',
    'sendEvent',
    'suspendAccount',
  ]);
});

for (const role of roles) {
  test(`in the console, an operator with the role ${role} may do what each operation declares`, async () => {
    const cookie = await service.signIn(`the-${role}`);
    for (const operation of consoleOperations) {
      const { method, path } = addressOf(operation);
      const code = await readCode(await service.call(cookie, path, { method }));
      assert.equal(code === 'role_missing', !coversRole(role, operation.role), `${operation.id}: ${code}`);
      assert.ok(code !== 'session_missing' && code !== 'internal_error', operation.id);
    }
  });

  test(`in the API, a token with the role ${role} may do what each operation declares`, async () => {
    const { token } = await sessions.makeToken(`the-${role}`);
    for (const operation of consoleOperations) {
      const { method, path } = addressOf(operation);
      const headers = { authorization: `Bearer ${token}` };
      const code = await readCode(await fetch(`${apiUrl}${path}`, { method, headers }));
      assert.equal(code === 'role_missing', !coversRole(role, operation.role), `${operation.id}: ${code}`);
      assert.ok(code !== 'token_invalid' && code !== 'internal_error', operation.id);
    }
  });
}

test('a refusal names the needed role and the person', async () => {
  const cookie = await service.signIn('the-reader');
  const answer = await service.call(cookie, '/pets/1', { method: 'DELETE' });
  assert.deepEqual(await answer.json(), {
    code: 'role_missing',
    message: 'this needs the role admin, but the-reader has the role reader',
    status: 403,
  });
});

test('only an admin sees the addresses of requests', async () => {
  service.openFile().exec(`insert into requests (at_ms, last_at_ms, address, status, code, duration_ms, times)
    values (1, 1, '203.0.113.7', 401, 'api_key_missing', 1, 1)`);
  for (const role of roles) {
    const answer = await service.call(await service.signIn(`the-${role}`), '/requests');
    const { items } = (await answer.json()) as { items: { address: string | null }[] };
    assert.ok(items.length > 0);
    for (const { address } of items) assert.equal(address !== null, role === 'admin', role);
  }
});
