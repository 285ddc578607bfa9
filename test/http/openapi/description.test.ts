import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventTypes } from '../../../src/events/event.ts';
import { operations as declared } from '../../../src/http/api/operations.ts';
import { petFields } from '../../../src/pets/pet.ts';
import { expectCommonHeaders } from '../../support/expect-error.ts';
import { startService } from '../../support/service.ts';
import { type Description, listExamples, listOperations, matchesSchema, resolve } from './description.ts';

const service = await startService({ after });
const { origin } = new URL(service.baseUrl);
const text = await (await fetch(`${origin}/openapi.json`)).text();
const description: Description = JSON.parse(text);
const operations = listOperations(description);

const { schemas = {}, securitySchemes = {}, headers = {} } = description.components;

interface Parameter {
  readonly name: string;
  readonly schema: object;
  readonly example: unknown;
}

interface EventDescription {
  readonly properties: { readonly type: { readonly enum?: readonly string[]; readonly not?: object } };
}

function listParameters(operationId: string): Parameter[] {
  const { parameters = [] } = operations.get(operationId) ?? {};
  return parameters.map((parameter) => resolve<Parameter>(description, parameter));
}

const namesOf = (parameters: readonly object[]) =>
  (parameters as readonly Parameter[]).map(({ name }) => name);

test('the description is served without a key as OpenAPI 3.1.1', async () => {
  const response = await fetch(`${origin}/openapi.json`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  expectCommonHeaders(response);
  const known = { headers: { 'if-none-match': response.headers.get('etag') ?? '' } };
  assert.equal((await fetch(`${origin}/openapi.json`, known)).status, 304);
  assert.equal(description.openapi, '3.1.1');
  assert.match(text, /"version":"1\.0\.0"/);
});

test('exactly the operations and parameters that the interface does not name are marked as beta', () => {
  const isStable = (one: object) => !('x-stability' in one);
  const found = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => isStable(operation))
      .map(([method, { operationId }]) => `${method} ${path} ${operationId}`),
  );
  assert.deepEqual(found, ['get /pets listPets', 'post /pets createPet', 'get /pets/{petId} getPet']);
  const parameters = ['listPets', 'createPet', 'getPet'].flatMap(listParameters).filter(isStable);
  assert.deepEqual(namesOf(parameters), ['limit', 'status', 'petId']);
});

test('every operation requires an API key as a bearer token', () => {
  assert.deepEqual(description.security, [{ apiKey: [] }]);
  assert.partialDeepStrictEqual(securitySchemes['apiKey'], { type: 'http', scheme: 'bearer' });
  for (const operation of operations.values()) assert.ok(!('security' in operation));
});

test('the described server is PUBLIC_URL, or else the address of the service', async (t) => {
  const urlsOf = ({ servers }: Description) => servers.map(({ url }) => url);
  assert.deepEqual(urlsOf(description), [service.baseUrl, '/v1']);
  const behindProxy = await startService(t, { PUBLIC_URL: 'https://pets.test/store/v1' });
  const response = await fetch(`${new URL(behindProxy.baseUrl).origin}/openapi.json`);
  const shown = (await response.json()) as Description;
  assert.deepEqual(urlsOf(shown), ['https://pets.test/store/v1']);
  assert.deepEqual(Object.keys(shown.paths), [...new Set(declared.map(({ path }) => path))]);
});

test('every int64 has exact bounds: all of int64, or of the numbers that no double rounds', () => {
  const exact =
    /"minimum":(?:-9223372036854775808,"maximum":9223372036854775807|[01],"maximum":9007199254740991)\b/g;
  const all = text.match(/"format":"int64"/g) ?? [];
  assert.ok(all.length > 20);
  assert.equal(text.match(exact)?.length, all.length);
});

test('every pattern uses only syntax that regular expressions of all languages support', () => {
  const patterns = [...text.matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, found = '']) =>
    JSON.parse(found),
  );
  assert.ok(patterns.length > 0);
  for (const pattern of patterns) assert.doesNotMatch(pattern, /\(\?|\\[pPu]|\[\^?\]/);
});

test('the Pet has its fields in the order of the interface', () => {
  const { properties } = schemas['Pet'] as { properties: object };
  const names = Object.keys(properties);
  assert.deepEqual(names.slice(0, 4), ['id', 'name', 'categoryId', 'status']);
  assert.deepEqual(names, ['id', ...petFields]);
});

test('the type of an event decides its schema', () => {
  const { anyOf } = schemas['StoreEvent'] as { anyOf: { $ref: string }[] };
  const variants = anyOf.map((one) => resolve<EventDescription>(description, one).properties.type);
  assert.deepEqual(
    variants.flatMap((type) => type.enum ?? []),
    eventTypes,
  );
  assert.deepEqual(variants.at(-1)?.not, { enum: eventTypes });
});

test('the requests to webhooks are described with examples that match', () => {
  const { requestBody, parameters } = description.webhooks['event']?.['post'] ?? assert.fail();
  const { schema, examples } = requestBody?.content['application/json'] ?? assert.fail();
  for (const { value } of Object.values(examples)) assert.ok(matchesSchema(description, schema, value));
  assert.deepEqual(namesOf(parameters), ['webhook-id', 'webhook-timestamp', 'webhook-signature']);
});

test('no field of a body has a default, because code generators would require it', () => {
  for (const { properties = {} } of Object.values(schemas) as { properties?: Record<string, object> }[])
    for (const [name, field] of Object.entries(properties)) assert.ok(!('default' in field), name);
});

test('the parameters of each operation are described', () => {
  for (const [name, parameters] of [
    ['listPets', ['limit', 'status', 'categoryId', 'id', 'cursor', 'If-None-Match', 'Prefer']],
    ['createPet', ['Idempotency-Key', 'Prefer']],
    ['getPet', ['petId', 'If-None-Match', 'Prefer']],
    ['updatePet', ['petId', 'If-Match', 'Prefer']],
    ['putCategory', ['categoryId', 'Prefer']],
    ['getAccount', ['Prefer']],
  ] as const)
    assert.deepEqual(namesOf(listParameters(name)), parameters);
});

test('the parameter limit has the range 1 to 100 and the default 20', () => {
  const [limit] = listParameters('listPets');
  assert.partialDeepStrictEqual(limit?.schema, { type: 'integer', minimum: 1, maximum: 100, default: 20 });
});

test('only getPet is deprecated, with the date of its removal', () => {
  for (const [name, operation] of operations) {
    const isMarked = 'deprecated' in operation || 'x-sunset' in operation;
    assert.equal(isMarked, name === 'getPet', name);
  }
  assert.partialDeepStrictEqual(operations.get('getPet'), { deprecated: true, 'x-sunset': '2030-12-05' });
});

test('the examples of every body match its schema', () => {
  const bodies = [...listExamples(description)];
  assert.ok(bodies.length > 50);
  for (const { place, schema, value } of bodies) assert.ok(matchesSchema(description, schema, value), place);
});

test('the example of every parameter and header matches its schema', () => {
  const parameters = [...operations.keys()].flatMap(listParameters);
  for (const { schema, example } of [...parameters, ...(Object.values(headers) as Parameter[])])
    assert.ok(matchesSchema(description, schema, example), String(example));
});
