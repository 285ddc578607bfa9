import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { scopes } from '../../../src/accounts/account.ts';
import { expectError } from '../../support/expect-error.ts';
import { until } from '../../support/processes.ts';
import { formatHeads, openRaw } from '../../support/raw-http.ts';
import { startBuiltServer } from '../built-server.ts';

const waitMsMax = 10_000;

/** A JSON body of this many bytes. */
const body = (length: number) => '{"name":"Rex","categoryId":1}'.padStart(length);

/** Starts a server with room for 10,000 bytes of bodies, and two accounts. */
async function start(t: TestContext) {
  const registry = new Registry();
  const { baseUrl, key, store } = await startBuiltServer(t, { registry, heldBodyBytesMax: 10_000 });
  const plan = { name: 'business', limits: { perMinute: 1_000, perDay: 100_000 } } as const;
  const other = await store.keyring.issue({ account: null, plan, scopes, lifetimeMs: null });

  async function readHeld(): Promise<number> {
    return Number(/request_body_bytes (\d+)/.exec(await registry.metrics())?.[1]);
  }
  const untilHeld = (bytes: number) => until(readHeld, (held) => held === bytes, waitMsMax);

  /** Sends a body but its last `missing` bytes, which `finish` sends. */
  async function sendSlowly(withKey: string, length: number, missing: number, before = '') {
    const head = `${formatHeads(withKey).post}Content-Length: ${length}\r\n\r\n`;
    const text = body(length);
    const connection = await openRaw(t, baseUrl, before + head);
    connection.send(text.slice(0, -missing));
    return { ...connection, finish: () => connection.send(text.slice(-missing)) };
  }
  return { key, otherKey: other.key, untilHeld, sendSlowly };
}

test('beyond the bound, only the oldest body of the account that holds most gets 503', async (t) => {
  const { key, otherKey, untilHeld, sendSlowly } = await start(t);
  const others = await sendSlowly(otherKey, 2_000, 100);
  await untilHeld(1_900);
  const oldest = await sendSlowly(key, 4_000, 100);
  await untilHeld(5_800);
  const next = await sendSlowly(key, 4_000, 100);
  await untilHeld(9_700);
  const last = await sendSlowly(key, 1_000, 100);
  await expectError(await oldest.read(), 503, 'unavailable', { 'retry-after': '1' });
  await untilHeld(6_700);
  for (const connection of [others, next, last]) {
    connection.finish();
    assert.equal((await connection.read()).status, 201);
  }
  await untilHeld(0);
});

test('a connection goes on after its body was refused for lack of room', async (t) => {
  const { key, untilHeld, sendSlowly } = await start(t);
  const refused = await sendSlowly(key, 6_000, 100);
  await untilHeld(5_900);
  await sendSlowly(key, 6_000, 100);
  await expectError(await refused.read(), 503, 'unavailable');
  refused.finish();
  refused.send(formatHeads(key).add);
  assert.equal((await refused.read()).status, 201);
});

test('the body of a request that waits behind another one counts', async (t) => {
  const { key, untilHeld, sendSlowly } = await start(t);
  const wait = `${formatHeads(key).get.replace('/pets', '/events?after=now&wait=20')}\r\n`;
  const waiting = await sendSlowly(key, 6_000, 100, wait);
  await untilHeld(5_900);
  const own = await sendSlowly(key, 6_000, 100);
  own.finish();
  assert.equal((await own.read()).status, 201);
  assert.equal((await waiting.read()).status, 200);
  await expectError(await waiting.read(), 503, 'unavailable');
});

test('the bodies of a closed connection count no more', async (t) => {
  const { key, untilHeld, sendSlowly } = await start(t);
  const { get, add } = formatHeads(key);
  const wait = `${get.replace('/pets', '/events?after=now&wait=20')}\r\n`;
  const connection = await sendSlowly(key, 6_000, 100, wait + add);
  await untilHeld(5_929);
  connection.reset();
  await untilHeld(0);
});
