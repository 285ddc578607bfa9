import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../../src/accounts/account.ts';
import { operations } from '../../../src/http/api/operations.ts';
import { listAnswers } from '../../../src/http/openapi/answers.ts';
import type { Operation } from '../../../src/http/operation.ts';
import { removablePetFields } from '../../../src/pets/pet.ts';
import { createExampleRequests, putIdentifiers } from '../../support/example-requests.ts';
import { startService } from '../../support/service.ts';

const { baseUrl, createKey, request } = await startService({ after });

type Fields = Readonly<Record<string, unknown>>;

/** Returns an object, or the first item of an array. Null if there is none. */
function readObject(body: unknown): Fields | null {
  const [first = null] = [body].flat();
  return first as Fields | null;
}

/** Returns the first example of the response to a success. */
function readExample({ answers }: Operation): unknown {
  const [answer] = Object.values(answers);
  return Object.values(answer?.examples ?? {})[0]?.value ?? null;
}

/** Fields that a response has only for some objects, or for some keys. */
const sometimes = new Set<string>(['reference', 'closedAt', 'account', 'previous', ...removablePetFields]);
const listFields = (object: Fields) => Object.keys(object).filter((name) => !sometimes.has(name));

/** Fields that are not answered as they were sent. */
const echoed = (sent: Fields, received: Fields) =>
  Object.fromEntries(Object.entries(sent).filter(([name]) => name in received));

for (const operation of operations) {
  const { id, bodyExamples = {} } = operation;
  const bodies = Object.entries(bodyExamples).map(([name, { value }]) => [name, value as Fields] as const);

  for (const [name, body] of bodies.length > 0 ? bodies : [['none', null] as const])
    test(`the response to the example ${name} of ${id} has the form of its example`, async () => {
      const key = await createKey('enterprise', undefined, { scopes });
      const requests = createExampleRequests(baseUrl, key, operations);
      const made = await requests.prepare(operation);
      const shown = readObject(readExample(operation));
      const received = readObject(await requests.send(operation, made, body));
      if (shown === null || received === null) return;
      assert.deepEqual(listFields(received), listFields(shown));
      const sent = body && (JSON.parse(putIdentifiers(JSON.stringify(body), made)) as Fields);
      assert.deepEqual(echoed(sent ?? {}, received), { ...echoed(received, sent ?? {}) });
    });

  const [[, first] = []] = bodies;
  if (first)
    test(`the example of the response of ${id} has what its first example of a request sent`, () => {
      const shown = readObject(readExample(operation)) ?? {};
      for (const [name, value] of Object.entries(echoed(first, shown)))
        assert.deepEqual(shown[name], value, name);
    });
}

test('the examples of a page differ in their ids', () => {
  for (const operation of operations)
    for (const { value } of Object.values(Object.values(operation.answers)[0]?.examples ?? {})) {
      if (!Array.isArray(value) || operation.id === 'listWebhookAttempts') continue;
      const ids = value.map(({ id, requestId }: Fields) => id ?? requestId);
      assert.equal(new Set(ids).size, ids.length, operation.id);
    }
});

test('the example of a rotated key has another id than the key of the path', () => {
  const rotate = operations.find(({ id }) => id === 'rotateKey') ?? assert.fail();
  const pathExample = Object.values(rotate.params?.schema.properties ?? {})[0] as { examples?: unknown[] };
  assert.notEqual(readObject(readExample(rotate))?.['id'], pathExample.examples?.[0]);
});

test('the example of each 405 has the Allow of its path', async () => {
  const key = await createKey('enterprise', undefined, { scopes });
  for (const operation of operations) {
    const failure = listAnswers(operation).find(({ status }) => status === 405) ?? assert.fail();
    const { message } = (failure.examples?.['method_not_allowed']?.value ?? {}) as { message: string };
    const response = await request(key, operation.path.replace(/\{\w+\}/, '1'), { method: 'PROPFIND' });
    assert.ok(message.endsWith(`allowed: ${response.headers.get('allow')}`), operation.path);
  }
});
