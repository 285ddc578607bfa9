import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Registry } from 'prom-client';
import Type from 'typebox';
import { operations } from '../../src/http/api/operations.ts';
import { answer, defineIdParameter, example } from '../../src/http/api/parts.ts';
import { defineOperation } from '../../src/http/operation.ts';
import { enumField, int64Field } from '../../src/schema.ts';
import { expectError } from '../support/expect-error.ts';
import { startBuiltServer } from './built-server.ts';
import { type Description, expectDescribed, listExamples, matchesSchema } from './openapi/description.ts';

const Weight = Type.Object({
  grams: int64Field('The weight in grams.'),
  unit: Type.Optional(enumField(['kg', 'lb'], 'What a scale shows.')),
});

const inGrams = { grams: example('In grams', { grams: 4_200 }) };

/** An operation with a query, a body and two answers needs only this definition and an entry in the list. */
const weighPet = defineOperation('weighPet', 'PUT /pets/{petId}/weight', 'pets:write', {
  summary: 'Weigh an animal',
  description: 'Notes the weight of an animal.',
  params: defineIdParameter('petId', 'animal', 42),
  query: Type.Object({
    round: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'Rounds to so many grams.', examples: [10] }),
    ),
  }),
  body: Weight,
  bodyExamples: inGrams,
  answers: {
    ...answer(200, 'The weight has changed.', Weight, inGrams),
    ...answer(201, 'The first weight of the animal.', Weight, inGrams, ['Location']),
  },
  async handle({ params: { petId }, query: { round = 1 }, body: { grams, unit } }, { baseUrl }) {
    const step = BigInt(round);
    const body = { grams: (grams / step) * step, ...(unit !== undefined && { unit }) };
    if (petId !== '1') return { status: 200, body };
    return { status: 201, body, headers: { location: `${baseUrl}/pets/${petId}/weight` } };
  },
});

const registry = new Registry();
const options = { registry, operations: [...operations, weighPet] };
const { baseUrl, key, store } = await startBuiltServer({ after }, options);
const { origin } = new URL(baseUrl);

function weigh(path: string, body: string, headers: Record<string, string> = {}) {
  const sent = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers };
  return fetch(`${baseUrl}/pets/${path}`, { method: 'PUT', headers: sent, body });
}

test('the query, the body and the answers of an added operation follow its schemas', async () => {
  const changed = await weigh('7/weight', '{"grams":9223372036854775807}');
  assert.equal(changed.status, 200);
  assert.equal(await changed.text(), '{"grams":9223372036854775807}');
  const first = await weigh('1/weight?round=100', '{"unit":"kg","grams":4250,"other":1}');
  assert.deepEqual([first.status, first.headers.get('location')], [201, '/v1/pets/1/weight']);
  assert.equal(await first.text(), '{"grams":4200,"unit":"kg"}');
});

test('an added operation refuses what its schemas do not allow', async () => {
  const strict = { prefer: 'handling=strict' };
  for (const [path, body, code, message, headers] of [
    ['?round=0', '{"grams":1}', 'invalid_parameter', /^round must be an integer from 1 to 1000$/],
    ['?round=1&round=1', '{"grams":1}', 'invalid_parameter', /^round must be given once$/],
    ['?other=1', '{"grams":1}', 'invalid_parameter', /^other is not a query parameter/, strict],
    ['', '{"unit":"st"}', 'invalid_body', /^grams is required; unit must be one of kg, lb$/],
    ['', '{"grams":1.5}', 'invalid_body', /^grams must be an integer/],
    ['', '{"grams":1,"other":1}', 'invalid_body', /^other is not a field/, strict],
    ['', '{', 'invalid_body', /not valid JSON/],
  ] as const)
    assert.match(await expectError(await weigh(`1/weight${path}`, body, headers), 400, code), message);
  const headers = { 'content-type': 'text/plain' };
  await expectError(await weigh('1/weight', 'x', headers), 415, 'unsupported_media_type');
});

test('an added operation requires a key with its scope', async () => {
  await expectError(await weigh('1/weight', '{}', { authorization: '' }), 401, 'api_key_missing');
  const plan = { name: 'free', limits: { perMinute: 60, perDay: 1_000 } } as const;
  const reading = { account: null, plan, scopes: ['pets:read'], lifetimeMs: null } as const;
  const reader = await store.keyring.issue(reading);
  const unscoped = await weigh('1/weight', '{}', { authorization: `Bearer ${reader.key}` });
  const message = await expectError(unscoped, 403, 'scope_missing');
  assert.equal(message, 'this API key lacks the scope pets:write');
});

test('the method of an added operation is in Allow', async () => {
  const headers = { authorization: `Bearer ${key}` };
  const refused = await fetch(`${baseUrl}/pets/1/weight`, { method: 'DELETE', headers });
  await expectError(refused, 405, 'method_not_allowed', { allow: 'PUT' });
});

test('an added operation is described in /openapi.json with its answers and failures', async () => {
  const description = (await (await fetch(`${origin}/openapi.json`)).json()) as Description;
  const described = description.paths['/pets/{petId}/weight']?.['put'] ?? assert.fail();
  assert.partialDeepStrictEqual(described, {
    operationId: 'weighPet',
    'x-stability': 'beta',
    'x-scope': 'pets:write',
    summary: 'Weigh an animal',
  });
  for (const { place, schema, value } of listExamples(description))
    assert.ok(matchesSchema(description, schema, value), place);
  for (const path of ['1/weight', '2/weight', '1/weight?round=x']) {
    const answer = await weigh(path, '{"grams":1}');
    const { status, headers } = answer;
    expectDescribed(description, 'weighPet', { status, headers, body: await answer.text() });
  }
});

test('an added operation has its own route label in the metrics', async () => {
  await weigh('9/weight', '{"grams":1}');
  const metrics = await registry.metrics();
  assert.match(metrics, /_requests_total\{route="PUT \/v1\/pets\/:petId\/weight",status="200"\} [1-9]/);
});
