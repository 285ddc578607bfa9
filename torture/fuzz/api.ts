import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import fc, { type Arbitrary } from 'fast-check';
import {
  type Description,
  expectDescribed,
  type Operation,
  resolve,
} from '../../test/http/openapi/description.ts';
import { amplePlan } from '../../test/support/instances.ts';
import type { RawResponse } from '../../test/support/raw-http.ts';
import { requireInvariants } from '../invariants.ts';
import { createRandom } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { startTarget } from '../target.ts';
import { type Body, bodiesFor } from './bodies.ts';
import { type Part, partsFor } from './values.ts';

const laneCount = 4;
const requestsMin = 100_000;
/** Operations that must succeed at least once. Otherwise the run would prove nothing. */
const mustSucceed = [
  ...['createPet', 'listPets', 'getPet', 'updatePet'],
  'placeOrder',
  'completeOrder',
  'cancelOrder',
  'returnOrder',
  'putCategory',
];
/** The greatest id that calls use. It is small, so that many calls use the same animal, order or category. */
const idMax = 200;

interface ParameterNode {
  readonly name: string;
  readonly in: 'query' | 'header' | 'path';
  readonly schema: object;
}

/** A call of an operation. */
interface Call {
  readonly operationId: string;
  readonly method: string;
  /** The address with its parameters filled in. */
  readonly path: string;
  readonly query: readonly Part[];
  readonly headers: readonly Part[];
  readonly body: Body | null;
}

const ids = fc.oneof(
  { weight: 30, arbitrary: fc.integer({ min: 1, max: idMax }).map(String) },
  fc.constantFrom('0', '-1', '007', '1.0', 'abc', '9223372036854775807', '9223372036854775808', '%20'),
);

/** A recent order, by its position. Older orders are closed. */
const recentOrders = fc.integer({ min: 0, max: 5 }).map((place) => `recent-${place}`);

const idsOf = (placeholder: string) =>
  placeholder === '{orderId}' ? fc.oneof({ weight: 3, arbitrary: recentOrders }, ids) : ids;

const tags = fc.constantFrom('*', '"known"', 'W/"known"', '"a", "b"', 'known', '""', '"', '*, "a"');

/** Bodies with ids of existing objects. The schema alone would rarely generate such ids. */
const knownBodies: Arbitrary<Body> = fc
  .record(
    {
      petId: fc.integer({ min: 1, max: idMax }),
      holdSeconds: fc.constantFrom(60, 900, 86_400),
      reference: fc.constantFrom('A-1', 'A-2'),
      name: fc.constantFrom('Rex', 'Max'),
      categoryId: fc.integer({ min: 1, max: 5 }),
      status: fc.constantFrom('available', 'pending', 'sold'),
    },
    { requiredKeys: ['petId', 'name', 'categoryId'] },
  )
  .map((fields) => ({ text: JSON.stringify(fields), type: 'application/json', isValid: true }));

/** Generates calls of one operation, with parameters and bodies that are valid, nearly valid or invalid. */
function callsOf(
  description: Description,
  method: string,
  path: string,
  { operationId, parameters, requestBody }: Operation,
): Arbitrary<Call> {
  const nodes = parameters.map((node) => resolve<ParameterNode>(description, node));
  const partsOf = (place: ParameterNode['in']) =>
    nodes
      .filter((node) => node.in === place && node.name !== 'Prefer')
      .map(({ name, schema }) => fc.option(partOf(description, name, schema), { nil: null }));
  const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
  const placeholders = path.match(/\{\w+\}/g) ?? [];
  const some = (lists: readonly (Part | null)[]) => lists.filter((part) => part !== null);
  return fc.record({
    operationId: fc.constant(operationId),
    method: fc.constant(method.toUpperCase()),
    path: fc.tuple(...placeholders.map(idsOf)).map((texts) => fillPath(path, texts)),
    query: fc.tuple(...partsOf('query')).map(some),
    headers: fc.tuple(...partsOf('header')).map(some),
    body: schema === undefined ? fc.constant(null) : fc.oneof(bodiesFor(description, schema), knownBodies),
  });
}

function fillPath(path: string, texts: readonly string[]): string {
  return texts.reduce((filled, text) => filled.replace(/\{\w+\}/, text), path);
}

function partOf(description: Description, name: string, schema: object): Arbitrary<Part> {
  if (name === 'If-Match') return tags.map((text) => ({ name, text, isValid: true }));
  if (name === 'Idempotency-Key')
    return fc.integer({ min: 1, max: 20 }).map((n) => ({ name, text: `key-${n}`, isValid: true }));
  return fc.oneof(
    partsFor(description, name, schema),
    ids.map((text) => ({ name, text, isValid: true })),
  );
}

function listAll({ paths }: Description) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
}

function listCalls(description: Description): Arbitrary<Call> {
  const arbitraries = listAll(description).map(({ method, path, operation }) => ({
    // Deletions are rare, because later calls need existing objects.
    weight: method === 'delete' ? 1 : 30,
    arbitrary: callsOf(description, method, path, operation),
  }));
  return fc.oneof(...arbitraries);
}

/** Expires a seventh of the holds. Makes returned animals available, so that later calls can order them. */
function endHolds(file: DatabaseSync, part: number): void {
  file.exec(`update pets set status = 'available' where status = 'pending' and is_owned = 0;
    update orders set expires_at_ms = created_at_ms + 1 where status = 'reserved' and id % 7 = ${part}`);
}

/**
 * Requires that the description has the answer, that the answer is not 5xx, that a call with an invalid body or parameter
 * is refused, and that a valid animal is not.
 */
function expectAnswer(description: Description, call: Call, answer: RawResponse): void {
  assert.ok(answer.status < 500, `${call.method} ${call.path} is ${answer.status}: ${answer.body}`);
  expectDescribed(description, call.operationId, answer);
  const isValid = call.body?.isValid !== false && call.query.every((part) => part.isValid);
  if (!isValid) assert.ok(answer.status >= 400, `${call.method} ${call.path} took ${JSON.stringify(call)}`);
  else if (call.operationId === 'createPet')
    assert.ok([201, 403, 409, 422].includes(answer.status), `${answer.body}: ${call.body?.text}`);
}

function isHeaderText(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

async function send(url: string, key: string, call: Call, newestOrder: number): Promise<RawResponse> {
  const query = call.query.map(({ name, text }) => `${name}=${encodeURIComponent(text.toWellFormed())}`);
  const headers = new Headers({ authorization: `Bearer ${key}` });
  if (call.body !== null) headers.set('content-type', call.body.type);
  for (const { name, text } of call.headers) if (isHeaderText(text)) headers.set(name, text);
  const path = call.path.replace(/recent-(\d)/, (_, place) => String(newestOrder - Number(place)));
  const response = await fetch(`${url}/v1${path}${query.length > 0 ? `?${query.join('&')}` : ''}`, {
    method: call.method,
    headers,
    body: call.body?.text ?? null,
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/**
 * Generates calls of every operation from the service's own description. The calls change, order and delete the same 200
 * animals.
 */
export const fuzzApi: Scenario = {
  name: 'fuzz-api',
  title: 'Requests to every operation, generated from the description: valid, nearly valid, invalid',
  minutes: 8,
  async run(context) {
    const { seed, scale } = context;
    const target = await startTarget(context);
    const description = (await (await fetch(new URL('/openapi.json', target.url))).json()) as Description;
    const keys = await Promise.all(
      ['all', 'all', 'pets:read,pets:manage,orders:read,orders:write', 'pets:read,orders:read'].map(
        async (scopes) => {
          const { key } = await target.store.createKey(...amplePlan, '--scopes', scopes);
          return key;
        },
      ),
    );
    const url = new URL(target.url).origin;
    await addAnimals(url, keys[0] ?? '');
    const file = new DatabaseSync(target.store.file, { timeout: 10_000 });
    context.after(() => file.close());
    const succeeded = new Set<string>();
    let answered = 0;
    let newestOrder = 0;
    const numRuns = Math.ceil((requestsMin * scale) / laneCount);
    const random = createRandom(seed);
    const lanes = Array.from({ length: laneCount }, async (_, lane) => {
      const key = keys[lane % keys.length] ?? '';
      const property = fc.asyncProperty(listCalls(description), async (call) => {
        const answer = await send(url, key, call, newestOrder);
        if (call.operationId === 'placeOrder' && answer.status === 201)
          newestOrder = Math.max(newestOrder, (JSON.parse(answer.body) as { id: number }).id);
        expectAnswer(description, call, answer);
        if (answer.status < 300) succeeded.add(call.operationId);
        answered += 1;
        if (answered % 40 === 0) endHolds(file, (answered / 40) % 7);
      });
      await fc.assert(property, {
        seed: random.between(1, 2 ** 31 - 1),
        numRuns,
        includeErrorInReport: true,
      });
    });
    await Promise.all(lanes);
    await requireInvariants(async (sql) => file.prepare(sql).all() as Record<string, unknown>[]);
    assert.deepEqual(
      mustSucceed.filter((operation) => !succeeded.has(operation)),
      [],
      'never succeeded',
    );
    return {
      done: `${numRuns * laneCount} requests to every operation, generated from \`/openapi.json\`; some holds expired`,
      seen: 'no 5xx; each status, header and body matched the description; no invalid request was accepted',
      lost: 'nothing: each animal had one owner, and the inventory and the events matched',
      well: 'at once',
    };
  },
};

async function addAnimals(url: string, key: string): Promise<void> {
  for (let number = 1; number <= idMax; number += 1)
    await fetch(`${url}/v1/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: `{"name":"Rex ${number}","categoryId":${number % 5}}`,
    });
}
