import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../src/accounts/account.ts';
import { operations } from '../../src/http/api/operations.ts';
import { listParameters } from '../../src/http/openapi/parameters.ts';
import type { Operation } from '../../src/http/operation.ts';
import { createExampleRequests, putIdentifiers } from '../support/example-requests.ts';
import { expectError } from '../support/expect-error.ts';
import { startWithKey } from '../support/service.ts';

const { service, key } = await startWithKey({ after }, {}, 'enterprise', undefined, { scopes });
const file = service.openFile();
const examples = createExampleRequests(service.baseUrl, key, operations);

/** A value of each precondition that lets a request through if the operation heeds the header. */
const passing = { 'if-none-match': '"other"', 'if-match': '*' } as const;
type Precondition = keyof typeof passing;

/** The preconditions that an operation refuses. */
function listRefused({ id, method }: Operation): readonly Precondition[] {
  if (method === 'GET' || id === 'createPet') return [];
  return ['updatePet', 'deletePet'].includes(id) ? ['if-none-match'] : ['if-none-match', 'if-match'];
}

/** Creates what the example of an operation refers to. Returns a function that sends the example. */
async function prepare(operation: Operation) {
  const made = await examples.prepare(operation);
  const parameter = listParameters(operation).find(({ place }) => place === 'path');
  const path = operation.path.replace(/\{\w+\}/, String(parameter?.schema.examples?.[0]));
  const [example] = Object.values(operation.bodyExamples ?? {});
  const body = example === undefined ? undefined : putIdentifiers(JSON.stringify(example.value), made);
  return (headers: Partial<Record<Precondition, string>>, sender: string | null = key) =>
    service.send(sender, `${operation.method} ${putIdentifiers(path, made)}`, body, headers);
}

/** Returns every row that an operation could change. */
const readStore = () =>
  [
    'select * from events',
    'select * from audit',
    'select id, url, status from webhooks',
    'select * from webhook_secrets',
    'select * from webhook_requests',
  ].map((rows) => file.prepare(rows).all());

const readingKey = await service.createKey('free', undefined, { scopes: ['pets:read'] });

for (const operation of operations) {
  const refused = listRefused(operation);

  for (const header of refused)
    test(`${operation.id} refuses ${header} before it changes anything`, async () => {
      const send = await prepare(operation);
      const before = readStore();
      const refusal = await send({ [header]: passing[header] });
      assert.match(
        await expectError(refusal, 400, 'invalid_parameter'),
        new RegExp(`^${header} is not supp`, 'i'),
      );
      assert.deepEqual(readStore(), before);
      const status = (await send({})).status;
      assert.ok(status in operation.answers, `${status} without the header`);
    });

  for (const header of (['if-none-match', 'if-match'] as const).filter((one) => !refused.includes(one)))
    test(`${operation.id} is not refused because of ${header}`, async () => {
      const send = await prepare(operation);
      const status = (await send({ [header]: passing[header] })).status;
      assert.ok(status in operation.answers, String(status));
    });
}

test('a missing key and a missing scope come before a refused precondition', async () => {
  const operation =
    operations.find(({ id }) => id === 'putCategory') ?? assert.fail('there is no putCategory');
  const send = await prepare(operation);
  await expectError(await send(passing, null), 401, 'api_key_missing');
  await expectError(await send(passing, readingKey), 403, 'scope_missing');
});

test('a refused precondition comes before an unknown identifier', async () => {
  const response = await service.send(key, 'DELETE /pets/999999', undefined, { 'if-none-match': '*' });
  await expectError(response, 400, 'invalid_parameter');
});
