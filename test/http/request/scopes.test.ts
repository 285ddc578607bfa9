import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectError } from '../../support/expect-error.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ after });
await service.importPets(1);

test('a key without the scope of an operation gets 403 scope_missing', async () => {
  const readOnly = await service.createKey('enterprise', undefined, { scopes: ['pets:read'] });
  const writeOnly = await service.createKey('enterprise', undefined, { scopes: ['pets:write'] });
  const rex = { name: 'Rex', categoryId: 1 };
  assert.equal((await service.request(readOnly, '/pets')).status, 200);
  assert.equal((await service.request(readOnly, '/pets/1')).status, 200);
  assert.equal((await service.post(writeOnly, rex)).status, 201);
  for (const refused of [
    await service.post(readOnly, rex),
    await service.request(writeOnly, '/pets'),
    await service.request(writeOnly, '/pets/1'),
  ]) {
    await expectError(refused, 403, 'scope_missing');
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"');
  }
});

test('a request without the scope gets 403 before its body is read, and adds nothing', async () => {
  const readOnly = await service.createKey('enterprise', undefined, { scopes: ['pets:read'] });
  const before = await service.countPets();
  await expectError(await service.post(readOnly, '{broken'), 403, 'scope_missing');
  await expectError(await service.post(readOnly, { name: 'Rex', categoryId: 1 }), 403, 'scope_missing');
  assert.equal(await service.countPets(), before);
});
