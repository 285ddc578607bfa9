import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { base62, formatKey, randomLength } from '../../src/accounts/api-key.ts';
import { createRandom } from '../random.ts';
import type { Scenario, TortureContext } from '../scenario.ts';
import type { Target } from '../target.ts';
import { abuse, share } from './abuse.ts';

const strangersCount = 1_000_000;
const sharedStrangersCount = 100_000;

interface Throng {
  readonly connections: number;
  readonly requestsAtOnce: number;
}

const pipelining: Throng = { connections: 10, requestsAtOnce: 50 };
/** More connections than the number of key lookups that may wait for PostgreSQL. */
const crowding: Throng = { connections: 1_100, requestsAtOnce: 1 };

/** Opens a connection. `readPart` returns the next received text. It rejects if the service closed the connection. */
async function open({ host, port }: Target) {
  const socket = connect({ host, port, noDelay: true }).setEncoding('latin1');
  await once(socket, 'connect');
  const closed = once(socket, 'close').then(() => {
    throw new Error('the service closed a connection before its answers');
  });
  closed.catch(() => {});
  const readPart = async (): Promise<string> => (await Promise.race([once(socket, 'data'), closed]))[0];
  return { socket, readPart };
}

/** Sends numbered requests over several connections and counts the answers by status. */
async function sendAll(
  { log }: TortureContext,
  target: Target,
  count: number,
  write: (number: number) => string,
  { connections, requestsAtOnce }: Throng = pipelining,
): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  let next = 0;

  async function work(): Promise<void> {
    let connection = await open(target);
    while (next < count) {
      // The service may close a connection after an answer, for example when a head comes too late.
      if (!connection.socket.writable) connection = await open(target);
      const { socket, readPart } = connection;
      const first = next;
      const last = Math.min(count, first + requestsAtOnce);
      next = last;
      const texts = Array.from({ length: last - first }, (_, index) => write(first + index));
      socket.write(texts.join(''));
      for (let missing = last - first, rest = ''; missing > 0; ) {
        // Each answer ends with the field `status` of its body.
        const pieces = (rest + (await readPart())).split(/"status":(\d{3})\}/);
        rest = pieces.at(-1) ?? '';
        for (let index = 1; index < pieces.length; index += 2) {
          const status = pieces[index] ?? '';
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          missing -= 1;
        }
      }
      if (last % 100_000 === 0) log(`${last} of ${count}`);
    }
    connection.socket.destroy();
  }

  await Promise.all(Array.from({ length: connections }, work));
  return statuses;
}

function describe(statuses: ReadonlyMap<string, number>): string {
  return [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
}

export const wrongKeys: Scenario = abuse({
  name: 'wrong-keys',
  title: 'Requests with wrong keys, a different key each time',
  minutes: 10,
  settings: { TRUST_PROXY: '1' },
  growthMibMax: 400,
  async misbehave(context, target) {
    const count = share(strangersCount, context.scale);
    const drawText = createDraw(context);
    // Every second key has a valid checksum, so that the service looks it up in the store.
    const keyOf = (number: number) =>
      number % 2 === 0 ? formatKey('live', drawText()) : `as_live_${String(number).padStart(28, '0')}`;
    const write = (number: number) =>
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.${(number >> 8) & 255}.${number & 255}\r\nAuthorization: Bearer ${keyOf(number)}\r\n\r\n`;
    const statuses = await sendAll(context, target, count, write);
    assertRefused(statuses);
    return { done: `A request with each of ${count} wrong keys`, seen: describe(statuses), well: 'at once' };
  },
});

export const wrongKeysShared: Scenario = abuse({
  name: 'wrong-keys-postgres',
  title: 'Unknown keys of the right form from one address, over PostgreSQL and Redis',
  minutes: 10,
  settings: { TRUST_PROXY: '1' },
  isShared: true,
  growthMibMax: 400,
  async misbehave(context, target) {
    const count = share(sharedStrangersCount, context.scale);
    const connections = share(crowding.connections, context.scale);
    const drawText = createDraw(context);
    const write = () =>
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.0.1\r\nAuthorization: Bearer ${formatKey('live', drawText())}\r\n\r\n`;
    const statuses = await sendAll(context, target, count, write, { ...crowding, connections });
    assertRefused(statuses);
    return {
      done: `A request with each of ${count} unknown keys from one address, over ${connections} connections`,
      seen: describe(statuses),
      well: 'at once',
    };
  },
});

/** Returns a function that draws the random part of a key. */
function createDraw({ seed }: TortureContext): () => string {
  const random = createRandom(seed);
  const draw = () => base62.charAt(random.between(0, base62.length - 1));
  return () => Array.from({ length: randomLength }, draw).join('');
}

function assertRefused(statuses: ReadonlyMap<string, number>): void {
  const others = [...statuses.keys()].filter((status) => status !== '401' && status !== '429');
  assert.deepEqual(others, [], describe(statuses));
}
