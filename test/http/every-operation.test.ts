import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { coversScope, scopes } from '../../src/accounts/account.ts';
import { operations } from '../../src/http/api/operations.ts';
import type { Operation } from '../../src/http/operation.ts';
import { expectError } from '../support/expect-error.ts';
import { startService } from '../support/service.ts';

/** Tests of every declared operation that need no knowledge of its handler. No request reaches a handler. */
const service = await startService({ after });
const key = await service.createKey('enterprise', undefined, { scopes });
const file = service.openFile();

const bodyBytesMax = 64 * 1_024;
const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Returns the path of an operation with ids that do not exist. */
const pathOf = ({ path }: Operation) => path.replaceAll(/\{\w+\}/g, '9223372036854775807');

interface Sent {
  readonly key?: string | null;
  readonly method?: string;
  readonly query?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(operation: Operation, { key: sent = key, query = '', ...init }: Sent): Promise<Response> {
  return service.request(sent, pathOf(operation) + query, { method: operation.method, ...init });
}

/** Returns the number of rows and the newest row id of each table that an operation could change. */
function readStore(): unknown {
  return ['pets', 'orders', 'categories', 'events', 'first_answers'].map((table) =>
    file.prepare(`select count(*) as rows, max(rowid) as newest from ${table}`).get(),
  );
}

const before = JSON.stringify(readStore());
const isUnchanged = () => assert.equal(JSON.stringify(readStore()), before);

for (const operation of operations)
  describe(`${operation.id}: ${operation.method} ${operation.path}`, () => {
    test('a request without a key gets 401 api_key_missing', async () => {
      await expectError(await send(operation, { key: null }), 401, 'api_key_missing');
    });

    test('a request with an unknown key gets 401 api_key_invalid', async () => {
      await expectError(await send(operation, { key: `${key.slice(0, -1)}_` }), 401, 'api_key_invalid');
    });

    const { scope } = operation;
    if (scope !== null)
      test('a request with a key that has all scopes but the required one gets 403 scope_missing', async () => {
        const others = scopes.filter((one) => !coversScope([one], scope));
        const lacking = await service.createKey('enterprise', undefined, { scopes: others });
        const refused = await send(operation, {
          key: lacking,
          ...(operation.body !== undefined && { body: '{broken' }),
        });
        await expectError(refused, 403, 'scope_missing');
        assert.equal(refused.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"');
        isUnchanged();
      });

    test('a request with another method gets 405, and Allow lists the supported methods', async () => {
      const there = operations.filter(({ path }) => path === operation.path).map(({ method }) => method);
      const absent = methods.find((method) => !there.includes(method as never));
      const refused = await send(operation, { method: absent ?? 'PROPFIND' });
      await expectError(refused, 405, 'method_not_allowed');
      const allowed = refused.headers.get('allow')?.split(', ') ?? [];
      assert.deepEqual(allowed.toSorted(), [...there, ...(there.includes('GET') ? ['HEAD'] : [])].toSorted());
    });

    test('a request with an unknown query parameter and handling=strict gets 400, and the message names the parameter', async () => {
      const headers = { prefer: 'handling=strict' };
      const message = await expectError(
        await send(operation, { query: '?unknown=1', headers }),
        400,
        'invalid_parameter',
      );
      assert.match(message, /unknown/);
      isUnchanged();
    });

    for (const name of Object.keys(operation.query?.properties ?? {}))
      test(`an empty or repeated parameter ${name} gets 400, and the message names it`, async () => {
        for (const query of [`?${name}=`, `?${name}=1&${name}=1`]) {
          const message = await expectError(await send(operation, { query }), 400, 'invalid_parameter');
          assert.match(message, new RegExp(name));
        }
      });

    if (operation.body !== undefined) describeBody(operation);
  });

function describeBody(operation: Operation): void {
  const json = { 'content-type': 'application/json' };
  const refused = [
    ['that is broken JSON', '{"', json, 400, 'invalid_body'],
    ['that is not an object', '[1]', json, 400, 'invalid_body'],
    ['that is empty', '', json, 400, 'invalid_body'],
    ['of another media type', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['larger than 64 KiB', `"${'a'.repeat(bodyBytesMax)}"`, json, 413, 'payload_too_large'],
  ] as const;
  for (const [what, body, headers, status, code] of refused) {
    if (body === '' && operation.isBodyOptional) continue;
    test(`a body ${what} gets ${status} ${code} and changes nothing`, async () => {
      await expectError(await send(operation, { body, headers }), status, code);
      isUnchanged();
    });
  }

  for (const name of Object.keys(operation.body?.properties ?? {}))
    test(`null or an object as the field ${name} gets 400, and the message names it`, async () => {
      for (const value of ['null', '{}']) {
        const body = `{"${name}":${value}}`;
        const message = await expectError(
          await send(operation, { body, headers: json }),
          400,
          'invalid_body',
        );
        assert.match(message, new RegExp(name));
        isUnchanged();
      }
    });
}
