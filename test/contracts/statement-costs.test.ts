import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { scopes } from '../../src/accounts/account.ts';
import { createEventIds } from '../../src/events/event-ids.ts';
import { operations } from '../../src/http/api/operations.ts';
import type { Operation } from '../../src/http/operation.ts';
import { createInstances } from '../../src/jobs/instances.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { consoleOperations, listActs } from '../../src/operator/console/console.ts';
import { bindConsoleOperation, type ConsoleServices } from '../../src/operator/console/operation.ts';
import { createVitals } from '../../src/operator/console/vitals.ts';
import type { Store } from '../../src/store.ts';
import { readDocument, readTable } from '../docs/markdown.ts';
import { startBuiltServer } from '../http/built-server.ts';
import { describeOnEngines, type Engine, openStore, sqliteEngine } from '../support/engines.ts';
import { fillTables, keepStatistics, largeRows, largeTables } from '../support/large-store.ts';
import { openMeter } from '../support/meter.ts';
import { nameCall, type RecordedCall, recordsCalls } from '../support/recorded-calls.ts';
import { createMovableClock, nextOf } from '../support/service.ts';
import {
  accountNames,
  type Caller,
  callers,
  consoleReads,
  listRequests,
  type Sent,
} from './every-request.ts';
import { listTables } from './store-contents.ts';

/** What a page may cost. A page of 100 orders merges one of each status, and names the account of each order. */
const rowsMax = 3_000;
assert.ok(rowsMax < largeRows / 6);

/**
 * The requests that may cost more, with these filters or more, and how `docs/bounds.md` names them. Reads of the console
 * run aside, so they hold up nobody else.
 */
const costly: Readonly<Record<string, string>> = {
  'GET /account/requests?status=': '`GET /account/requests` with `status`',
  'GET /account/requests?code=': '`GET /account/requests` with `code`',
  'GET /orders?petId=&reference=': '`GET /orders` with `petId` and `reference`',
  'PUT /categories/{categoryId}': '`PUT /categories/{categoryId}`',
  'console GET /accounts': 'Accounts in the console',
  'console GET /accounts/{account}': 'An account in the console',
  'console GET /audit': 'Audit log in the console',
  'console GET /bans': 'Bans in the console',
  'console GET /orders?petId=&reference=': 'Orders in the console by animal and reference',
  'console GET /requests': 'Failed requests in the console',
  'console GET /search': 'Search in the console',
  'console GET /webhooks/{webhookId}': 'A disabled webhook in the console',
  'console GET /webhooks': 'Webhooks in the console',
};

/** The tables without rows in a large store, each with why it stays small. */
const small: Readonly<Record<string, string>> = {
  ban_lifts: 'a job deletes what instances have applied',
  console_links: 'links end after minutes',
  console_sessions: 'of operators, who are few',
  erasures: 'a job deletes what is over',
  event_gaps: 'a row for each server that took over',
  event_horizon: 'one row',
  event_outbox: 'a job moves its rows to the feed',
  imported_files: 'no request reads it',
  instances: 'a row for each instance',
  inventory_changes: 'a job adds its rows to the totals',
  inventory_totals: 'one row',
  leases: 'a row for each job',
  limit_resets: 'a job deletes what instances have applied',
  log_change: 'one row',
  operators: 'they are few',
  secrets: 'one row for each purpose',
  strangers: 'its rows end after an hour',
  usage_windows: 'it is read by its key',
};

const eventIds = createEventIds(Buffer.alloc(32));
const requests = listRequests((position) => eventIds.write(BigInt(position)));

const readQuery = (path: string) => new URLSearchParams(path.split('?')[1]);

/** Names a request by its filters, without their values. */
function nameRequest(endpoint: string, path: string): string {
  const filters = [...readQuery(path).keys()].filter((name) => !['limit', 'cursor'].includes(name));
  return filters.length === 0 ? endpoint : `${endpoint}?${filters.map((name) => `${name}=`).join('&')}`;
}

function mayCostMore(request: string): boolean {
  const [endpoint, query] = request.split('?');
  return Object.keys(costly).some((name) => {
    const filters = [...readQuery(name).keys()];
    return name.split('?')[0] === endpoint && filters.every((filter) => query?.includes(`${filter}=`));
  });
}

/** Opens a store whose statistics are those of an empty store, and measures what runs there. */
async function openLargeStore(t: TestContext, engine: Engine) {
  const store = await engine.createStore(t);
  await keepStatistics(engine, store);
  await fillTables(engine, store, largeTables);
  let calls: RecordedCall[] = [];
  const wrap = recordsCalls(t, store.url, (call) => calls.push(call));
  const server = await startBuiltServer(t, {}, undefined, wrap, store.url);
  const keys = await issueKeys(server.store);
  calls = [];
  const meter = await openMeter(t, engine, store);
  const measured = new Set<string>();
  const problems = new Map<string, string>();
  return {
    ...server,
    keys,
    problems,
    /** Measures the statements that ran since the last call, as those of a request. */
    async measureCalls(request: string): Promise<void> {
      for (const call of calls.splice(0)) {
        const name = nameCall(call);
        if (mayCostMore(request) || measured.has(name)) continue;
        measured.add(name);
        const { rows, plan } = await meter.measure(call.statement, call.parameters);
        if (rows > rowsMax) problems.set(request, `${request}: ${rows} rows\n${plan}`);
      }
    },
  };
}

type LargeStore = Awaited<ReturnType<typeof openLargeStore>>;

async function issueKeys({ keyring }: Store): Promise<Readonly<Record<Caller, string>>> {
  const issue = async (caller: Caller) => {
    const own = scopes.filter((scope) => caller === 'staff' || scope !== 'orders:manage');
    const order = { account: accountNames[caller], plan: null, scopes: own, lifetimeMs: null };
    return (await keyring.issue(order)).key;
  };
  return { few: await issue('few'), many: await issue('many'), staff: await issue('staff') };
}

/** Sends a request, and follows the link to a second page. */
async function send(large: LargeStore, operation: Operation, caller: Caller, sent: Sent): Promise<void> {
  const { id, method, path: endpoint } = operation;
  const headers = new Headers({ authorization: `Bearer ${large.keys[caller]}`, ...sent.headers });
  if (sent.body !== undefined) headers.set('content-type', 'application/json');
  const init = { method, headers, ...(sent.body && { body: JSON.stringify(sent.body) }) };
  const followed = method === 'GET' && id !== 'listEvents' ? 1 : 0;
  let path: string | null = sent.path;
  for (let pages = 0; path !== null && pages <= followed; pages += 1) {
    const response: Response = await fetch(large.baseUrl + path, init);
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    path = nextOf(response);
    await large.measureCalls(nameRequest(`${method} ${endpoint}`, sent.path));
  }
}

/** Reads a page of the console as the operator's port does. */
async function readConsole(large: LargeStore, services: ConsoleServices, address: string, path: string) {
  const operation = consoleOperations.find((each) => each.address === address);
  assert.ok(operation !== undefined, address);
  const [route] = bindConsoleOperation(operation, services);
  const names = address.split('/');
  const [place = '', query = ''] = path.split('?');
  const parts = place.split('/').map((part, at) => [names[at] ?? '', decodeURIComponent(part)] as const);
  const params = Object.fromEntries(
    parts.filter(([name]) => name.startsWith('{')).map(([name, part]) => [name.slice(1, -1), part]),
  );
  const signedIn = { id: '1', name: 'mira', role: 'admin' };
  const call = { params, query: route.readQuery(query, true), body: null, signedIn };
  await route.run({ ...call, headers: {} } as unknown as Parameters<typeof route.run>[0]);
  await large.measureCalls(nameRequest(`console ${address}`, path));
}

function createConsoleServices({ aside }: Store): ConsoleServices {
  const clock = createMovableClock().now;
  return {
    ...aside,
    vitals: createVitals(new Registry(), clock),
    look: async (subject) => createMemoryCounters().look(subject, clock()),
    clock,
    environment: 'staging',
    readHealth: async () => ({ problems: [], notes: [] }),
    eventIds,
    instances: createInstances(aside.database, clock),
    logSwitch: { read: () => ({ level: 'info', requests: 'errors' }) },
    listActs,
  };
}

test('the documentation names every request that may cost more than a page', async () => {
  const bounds = await readDocument('docs/bounds.md');
  const named = readTable(bounds, 'Requests that may read more than a page').map(([request = '']) => request);
  assert.deepEqual(named.toSorted(), Object.values(costly).toSorted());
});

test('every table is large, except those of which it says why not', async (t) => {
  const { database } = await openStore(t, sqliteEngine);
  const left = (await listTables(database)).filter((table) => !largeTables.some((large) => large === table));
  assert.deepEqual(left, Object.keys(small), 'test/support/large-store.ts');
});

test('every operation has a request with each of its filters', () => {
  for (const { id, query } of operations) {
    const sent = (requests[id] ?? []).flatMap(({ path }) => [...readQuery(path).keys()]);
    assert.ok(requests[id] !== undefined, `${id} has no request in every-request.ts`);
    // The walk to the second page has a cursor.
    for (const name of Object.keys(query?.properties ?? {}))
      assert.ok(name === 'cursor' || sent.includes(name), `${id}: no request has ${name}`);
  }
});

test('every read of the console has a request with each of its filters', () => {
  for (const { address, fields } of consoleOperations) {
    if (!address.startsWith('GET ')) continue;
    const reads = consoleReads[address];
    assert.ok(reads !== undefined, `${address} has no request in every-request.ts`);
    const sent = reads.flatMap(({ path }) => [...readQuery(path).keys()]);
    for (const name of Object.keys(fields))
      assert.ok(sent.includes(name), `${address}: no request has ${name}`);
  }
});

await describeOnEngines('in a large store', (engine) => {
  test('no statement of a request costs more than a page', async (t) => {
    const large = await openLargeStore(t, engine);
    for (const operation of operations)
      for (const sent of requests[operation.id] ?? [])
        for (const caller of sent.as === undefined ? callers : [sent.as])
          await send(large, operation, caller, sent);
    const services = createConsoleServices(large.store);
    for (const [address, reads] of Object.entries(consoleReads))
      for (const { path } of reads) await readConsole(large, services, address, path);
    assert.deepEqual([...large.problems.values()], []);
  });
});
