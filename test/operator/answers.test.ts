import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { consoleOperations } from '../../src/operator/console/console.ts';
import { storeWebhooks } from '../support/stored-webhooks.ts';
import { startConsole } from './console-browser.ts';

const service = await startConsole({ after });
const { store, openFile, call } = service;
const key = await service.createKey('pro', undefined, { account: 'Zoo' });
await service.importPets(1);
await store.operators.add('omar', 'admin');
await store.sessions.makeToken('omar');
await service.send(key, 'POST /orders', { petId: 1 });
await store.putCategory({ id: 1n, name: 'Dogs' });
storeWebhooks(openFile(), [{ id: 'wh_8tKq2ZmX0aLr5VnC', position: 0, result: '503', status: 'disabled' }]);
openFile().exec(`insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms)
  values (1, 'evt_0000000000000001', unixepoch() * 1000, '503', 1);
  insert into requests (at_ms, last_at_ms, address, status, code, duration_ms, times)
  values (1, 1, '203.0.113.7', 401, 'api_key_missing', 1, 1);
  insert into key_bans select id, ${Date.UTC(2027, 0, 2, 13)}, 1, 1, '', ${Date.UTC(2027, 0, 3)} from api_keys`);
const cookie = await service.signIn('omar');

interface Shape {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
}

/** Lists where a value has a member that its schema does not name, or lacks a required one. */
function compare(
  value: unknown,
  { properties = {}, required = [], items = {} }: Shape,
  at: string,
): string[] {
  if (Array.isArray(value)) return value.flatMap((member) => compare(member, items, `${at}[]`));
  if (typeof value !== 'object' || value === null || Object.keys(properties).length === 0) return [];
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`);
  const members = Object.entries(value).flatMap(([name, member]) => {
    const shape = properties[name];
    return shape === undefined ? [`${at}.${name} is not declared`] : compare(member, shape, `${at}.${name}`);
  });
  return [...missing, ...members];
}

const ids = { account: 'Zoo', petId: '1', orderId: '1', webhookId: 'wh_8tKq2ZmX0aLr5VnC' } as const;

test('each read of the console has the answer that its schema declares', async () => {
  for (const { id, address, answers } of consoleOperations) {
    if (!address.startsWith('GET ')) continue;
    const path = address.slice(4).replace(/\{(\w+)\}/, (_, name: keyof typeof ids) => ids[name]);
    const answer = await call(cookie, id === 'search' ? `${path}?text=1` : path);
    assert.equal(answer.status, 200, id);
    assert.deepEqual(compare(await answer.json(), answers[200]?.body as Shape, id), []);
  }
});
