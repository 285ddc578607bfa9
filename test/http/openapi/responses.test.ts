import assert from 'node:assert/strict';
import type { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { coversScope, scopes } from '../../../src/accounts/account.ts';
import { eventIdExample } from '../../../src/events/event.ts';
import { createEventIds } from '../../../src/events/event-ids.ts';
import { operations } from '../../../src/http/api/operations.ts';
import { webhookIdExample } from '../../../src/http/api/webhooks.ts';
import { listAnswers } from '../../../src/http/openapi/answers.ts';
import { listParameters } from '../../../src/http/openapi/parameters.ts';
import type { Operation } from '../../../src/http/operation.ts';
import { exchangeOne, formatRequest, type RawResponse } from '../../support/raw-http.ts';
import { createMovableClock, startService } from '../../support/service.ts';
import { storeWebhooks } from '../../support/stored-webhooks.ts';
import { startBuiltServer } from '../built-server.ts';
import { startFaultyService } from '../faulty-service.ts';
import { type Description, expectDescribed, listOperations } from './description.ts';

const service = await startService({ after }, { TRUST_PROXY: '1' });
const key = await service.createKey('enterprise', undefined, { scopes });
// The examples of path parameters use ids of animals up to 50.
await service.importPets(50);
const ownedPet = '/pets/1';
service.openFile().exec(`update pets set is_owned = 1 where id = 1;
  insert into categories (id, name) values (3, 'Dogs');
  with recursive numbers (id) as (select 10000 union all select id + 1 from numbers where id < 19997)
    insert into categories select id, 'c' from numbers`);
const { origin: address } = new URL(service.baseUrl);
const description = (await (await fetch(`${address}/openapi.json`)).json()) as Description;

type Texts<Name extends string = string> = Readonly<Record<Name, string>>;
interface Change extends Partial<Texts<'baseUrl' | 'method' | 'path' | 'body'>> {
  readonly key?: string | null;
  readonly headers?: Texts;
}

type Drive = () => Promise<RawResponse>;

const shop = service.openFile();
shop.exec('delete from events where id <= 2; update event_horizon set deleted_to = 2');
const eventIds = openEventIds(shop);
const lostEvent = eventIds.write(1n);
const keptEvent = { eventId: eventIds.write(5n) };

function openEventIds(file: DatabaseSync) {
  const secret = file.prepare("select value from secrets where name = 'cursor'").get();
  return createEventIds(secret?.['value'] as Uint8Array);
}

function findAccountId(name: string): number {
  return Number(shop.prepare('select id from accounts where name = ?').get(name)?.['id']);
}

const [main] = await service.store.keyring.list();
const full = await service.createKey('pro', undefined, { account: 'full', scopes });
shop.exec(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 25)
  insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
  select 'full' || n, ${findAccountId('full')}, randomblob(32), '', '', 0 from numbers`);
const suspended = await service.createKey('pro', undefined, { account: 'suspended', scopes });
await service.store.accounts.suspend('suspended');
const lostWebhook = 'wh_0000000000000000';
/** A webhook with as many requested messages as may wait. */
const busyWebhook = 'wh_0000000000000001';
const crowded = await service.createKey('enterprise', undefined, { scopes, account: 'crowded' });
const crowdedId = findAccountId('crowded');

/** For each operation, the changes to a valid call that produce the statuses that do not follow from its declaration. */
const special: Readonly<Record<string, Readonly<Record<number, Change>>>> = {
  updatePet: { 409: { path: ownedPet }, 412: { headers: { 'if-match': '"other"' } } },
  putCategory: {
    201: { path: '/categories/201' },
    404: { path: '/categories/007' },
    409: { path: '/categories/409' },
  },
  deletePet: { 409: { path: ownedPet }, 412: { headers: { 'if-match': '"other"' }, path: '/pets/2' } },
  placeOrder: { 404: { body: '{"petId":0}' } },
  completeOrder: { 409: { path: '/orders/8/complete' } },
  cancelOrder: { 409: { path: '/orders/8/cancel' } },
  listEvents: { 410: { path: `/events?after=${lostEvent}` } },
  getEvent: { 410: { path: `/events/${lostEvent}` } },
  getAccount: { 403: { key: suspended } },
  listRequests: { 403: { key: suspended } },
  createKey: { 409: { key: full } },
  rotateKey: { 409: { path: '/keys/key_0000000000000000/rotate' } },
  createWebhook: { 409: { key: crowded } },
  updateWebhook: { 409: { path: `/webhooks/${lostWebhook}` } },
  pingWebhook: { 409: { path: `/webhooks/${busyWebhook}/ping` } },
  sendWebhookEvent: {
    202: { body: JSON.stringify(keptEvent) },
    409: { path: `/webhooks/${busyWebhook}/send`, body: JSON.stringify(keptEvent) },
    410: { body: JSON.stringify({ eventId: lostEvent }) },
  },
  returnOrder: { 409: { path: '/orders/8/return' } },
};

/** Creates the objects that the examples refer to, such as an available animal, an open order and a closed order. */
function prepare({ id, tag }: Operation): void {
  if (tag === 'keys')
    shop.exec(`delete from api_keys where account_id = 1 and id <> '${main?.id}';
      insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
        values ('key_3kTMd8fZq1LxW0aB', 1, x'00', 'as_stg_7Qp1', 'pets:read', 0);
      insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms, expires_at_ms, revoked_at_ms)
        values ('key_0000000000000000', 1, x'01', 'as_stg_0000', 'pets:read', 0, 9000000000000, 9000000000000)`);
  if (tag === 'webhooks') {
    shop.exec('delete from webhooks');
    // They are disabled, so the service sends nothing to them.
    storeWebhooks(shop, [
      { id: webhookIdExample, status: 'disabled', position: 9 },
      { id: lostWebhook, status: 'disabled' },
      { id: busyWebhook, status: 'disabled', position: 9 },
      ...[1, 2, 3, 4, 5].map((at) => ({ id: `wh_full${at}`, accountId: crowdedId })),
    ]);
    shop.exec(`with recursive numbers (n) as (select 101 union all select n + 1 from numbers where n < 200)
        insert into webhook_requests (webhook_id, message_id, position)
        select (select id from webhooks where public_id = '${busyWebhook}'), 'evt_' || n, n from numbers`);
  }
  if (tag !== 'orders') return;
  const status = id === 'returnOrder' ? 'completed' : 'reserved';
  shop.exec(`delete from orders;
    insert into pets (id, name, category_id, status, is_owned) values (42, 'Rex', 1, 'available', 0)
      on conflict do update set status = 'available', is_owned = 0;
    insert into orders (id, account_id, pet_id, status, created_at_ms, expires_at_ms, closed_at_ms) values
      (7, 1, 47, '${status}', 0, 9000000000000, ${status === 'reserved' ? 'null' : '0'}),
      (8, 1, 48, 'expired', 0, 1, 1)`);
}

/** Returns the path of an operation with the example of its parameter. */
function pathOf(operation: Operation): string {
  const parameter = listParameters(operation).find(({ place }) => place === 'path');
  return operation.path.replace(/\{\w+\}/, String(parameter?.schema.examples?.[0]));
}

function bodyOf({ bodyExamples = {} }: Operation): string | null {
  const [example] = Object.values(bodyExamples);
  return example === undefined ? null : JSON.stringify(example.value);
}

async function call(operation: Operation, change: Change = {}): Promise<RawResponse> {
  prepare(operation);
  return send(operation, change);
}

let clients = 0;

/** An event of each service whose event ids are not those of `service`. */
const eventOf = new Map<string, string>();

async function send(operation: Operation, change: Change = {}): Promise<RawResponse> {
  const usual = { baseUrl: service.baseUrl, key, method: operation.method, path: pathOf(operation) };
  const {
    baseUrl,
    path: given,
    key: sent,
    method,
    body = bodyOf(operation),
    headers,
  } = { ...usual, ...change };
  const path = given.replace(eventIdExample, eventOf.get(baseUrl) ?? keptEvent.eventId);
  clients += 1;
  const answer = await fetch(baseUrl + path, {
    method,
    body,
    headers: {
      // An address has only 60 requests a minute without a key, so each call has its own.
      'x-forwarded-for': `10.0.${clients >> 8}.${clients & 255}`,
      ...(sent !== null && { authorization: `Bearer ${sent}` }),
      ...(body !== null && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

/** Formats the head of a call. */
function formatHead(operation: Operation, sent: string, headers: Texts = {}) {
  const line = `${operation.method} /v1${pathOf(operation)}`;
  return formatRequest(line, { authorization: `Bearer ${sent}`, ...headers });
}

/** Starts a service without the tables of its operations. It has cached its key, so that only the operations fail. */
async function startBroken(): Promise<{ baseUrl: string; key: string }> {
  const { baseUrl, createKey, request, openFile } = await startService({ after });
  const valid = await createKey('enterprise', undefined, { scopes });
  await request(valid, '/pets');
  const file = openFile();
  eventOf.set(baseUrl, openEventIds(file).write(5n));
  const tables = file.prepare(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
  );
  for (const { name } of tables.all()) file.exec(`alter table ${name} rename to hidden_${name}`);
  return { baseUrl, key: valid };
}

const broken = await startBroken();
const closed = await startFaultyService({ after });
eventOf.set(closed.baseUrl, createEventIds(Buffer.alloc(32)).write(5n));
/** Waits only for a moment, so only a request that never arrives is sent to it. */
const hasty = await startBuiltServer(
  { after },
  { timeouts: { headersMs: 100, requestMs: 200, keepAliveMs: 1_000, untakenMs: 1_000 } },
);
const strict = { prefer: 'handling=strict' };
const chunked = { 'transfer-encoding': 'chunked', 'content-type': 'application/json' };

/** Returns calls for the statuses that all operations share. */
function commonDrives(operation: Operation): Record<number, Drive> {
  const ask = (change: Change) => call(operation, change);
  return {
    400: () => ask({ path: `${pathOf(operation)}?unknown=1`, headers: strict }),
    401: () => ask({ key: null }),
    403: async () => {
      const others = scopes.filter((scope) => !coversScope([scope], operation.scope ?? []));
      const body = operation.body === undefined ? {} : { body: '{broken' };
      return ask({ ...body, key: await service.createKey('pro', undefined, { scopes: others }) });
    },
    429: async () => {
      const exhausted = await service.createKey('enterprise', { perMinute: 1, perDay: 1 }, { scopes });
      await ask({ key: exhausted });
      return ask({ key: exhausted });
    },
    500: () => ask(broken),
    503: () => ask(closed),
    405: () => ask({ method: 'PROPFIND' }),
    408: () => exchangeOne({ after }, hasty.baseUrl, formatHead(operation, hasty.key).slice(0, -2)),
    413: async () => {
      // The lookup of a new key delays the answer, so that the service finds the unreadable body first.
      const head = formatHead(operation, await service.createKey(), chunked);
      return exchangeOne({ after }, service.baseUrl, head, `1;${'a'.repeat(20_000)}`);
    },
    431: () => ask({ headers: { 'x-filler': 'a'.repeat(20_000) } }),
  };
}

/** Sends two calls with one Idempotency-Key. Returns the refusal of one while the other waits for the store. */
async function callTwice(operation: Operation): Promise<RawResponse> {
  prepare(operation);
  const file = service.openFile();
  file.exec('begin immediate');
  const both = [1, 2].map(() => send(operation, { headers: { 'idempotency-key': `twice-${operation.id}` } }));
  const refused = await Promise.race(both);
  file.exec('rollback');
  await Promise.all(both);
  return refused;
}

async function callReused(operation: Operation): Promise<RawResponse> {
  const headers = { 'idempotency-key': `reused-${operation.id}` };
  await call(operation, { headers });
  return call(operation, { headers, body: `${bodyOf(operation)} ` });
}

/** Returns calls for the statuses that follow from the declaration of an operation. */
function declaredDrives(operation: Operation): Record<number, Drive> {
  const { answers, method, path, params, body, isIdempotent, isNeverStored, deprecation } = operation;
  const drives: Record<number, Drive> = {};
  for (const status of Object.keys(answers)) drives[Number(status)] = () => call(operation);
  if (method === 'GET' && !isNeverStored)
    drives[304] = async () => {
      const { headers } = await call(operation);
      return call(operation, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    };
  if (params !== undefined) drives[404] = () => call(operation, { path: path.replace(/\{\w+\}/, '0') });
  if (body !== undefined) drives[415] = () => call(operation, { headers: { 'content-type': 'text/plain' } });
  if (isIdempotent) {
    drives[409] = () => callTwice(operation);
    drives[422] = () => callReused(operation);
  }
  if (deprecation !== undefined)
    drives[410] = async () => {
      const late = await startService({ after }, {}, createMovableClock(deprecation.removedAtMs));
      return call(operation, {
        baseUrl: late.baseUrl,
        key: await late.createKey('enterprise', undefined, { scopes }),
      });
    };
  for (const [status, own] of Object.entries(special[operation.id] ?? {}))
    drives[Number(status)] = () => call(operation, own);
  return drives;
}

/** Statuses of errors whose messages do not depend on numbers and times, so that an example shows the real message. */
const exactStatuses = new Set(['403', '404', '412', '415', '422']);

function expectExample(operation: Operation, { status, body }: RawResponse): void {
  const answer = JSON.parse(body);
  const { examples = {} } = listAnswers(operation).find((one) => one.status === status) ?? {};
  assert.deepEqual(answer, examples[answer.code]?.value);
}

const origin = 'https://app.test';
const forPages = await startService({ after }, { CORS_ORIGINS: origin });
const keyForPages = await forPages.createKey('enterprise', undefined, { scopes });

for (const operation of operations) {
  const { id, body, isIdempotent } = operation;
  const drives = { ...commonDrives(operation), ...declaredDrives(operation) };

  test(`every described status of ${id} has a test`, () => {
    const { responses = {} } = listOperations(description).get(id) ?? {};
    assert.deepEqual(Object.keys(responses), Object.keys(drives));
  });

  for (const [status, drive] of Object.entries(drives))
    test(`the ${status} of ${id} matches the description`, async () => {
      const answer = await drive();
      assert.equal(answer.status, Number(status), answer.body);
      expectDescribed(description, id, answer);
      if (exactStatuses.has(status)) expectExample(operation, answer);
    });

  if (body !== undefined)
    test(`the example of invalid_body of ${id} is the answer to an empty body or to null as a field`, async () => {
      const { required = [], properties } = body;
      const sent = required.length > 0 ? {} : { [Object.keys(properties)[0] ?? '']: null };
      expectExample(operation, await call(operation, { body: JSON.stringify(sent) }));
    });

  test(`${id} with CORS_ORIGINS matches the description, from whatever page it is called`, async () => {
    for (const sent of [origin, 'https://other.test', null])
      for (const change of [{ key: keyForPages }, { key: null }, { key: keyForPages, method: 'PROPFIND' }]) {
        const headers = sent === null ? {} : { origin: sent };
        const answer = await call(operation, { baseUrl: forPages.baseUrl, headers, ...change });
        assert.equal(answer.headers.get('vary'), 'Origin');
        assert.equal(answer.headers.get('access-control-allow-origin'), sent === origin ? origin : null);
        expectDescribed(description, id, answer);
      }
  });

  if (isIdempotent)
    test(`the answer of ${id} to a retry with an Idempotency-Key matches the description`, async () => {
      const headers = { 'idempotency-key': `retried-${id}` };
      await call(operation, { headers });
      const answer = await call(operation, { headers });
      assert.equal(answer.headers.get('idempotent-replayed'), 'true');
      expectDescribed(description, id, answer);
    });
}
