import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { base62, formatKey, randomLength } from '../../src/accounts/api-key.ts';
import { addressesMax } from '../../src/limits/memory/memory-counters.ts';
import { createRandom } from '../random.ts';
import type { Scenario, TortureContext } from '../scenario.ts';
import type { Target } from '../target.ts';
import { abuse, share } from './abuse.ts';

const strangersCount = 1_000_000;
const connections = 10;
const requestsAtOnce = 100;

/** Sends numbered requests over some connections, as many as are to be, and counts the statuses of the answers. */
async function sendAll(
  { log }: TortureContext,
  { host, port }: Target,
  count: number,
  write: (number: number) => string,
): Promise<Map<string, number>> {
  const statuses = new Map<string, number>();
  let next = 0;

  async function work(): Promise<void> {
    const socket = connect({ host, port, noDelay: true }).setEncoding('latin1');
    await once(socket, 'connect');
    while (next < count) {
      const first = next;
      const last = Math.min(count, first + requestsAtOnce);
      next = last;
      const texts = Array.from({ length: last - first }, (_, index) => write(first + index));
      socket.write(texts.join(''));
      for (let missing = last - first, rest = ''; missing > 0; ) {
        const [part] = await once(socket, 'data');
        // An answer is known by its body, which ends it.
        const pieces = (rest + part).split(/"status":(\d{3})\}/);
        rest = pieces.at(-1) ?? '';
        for (let index = 1; index < pieces.length; index += 2) {
          const status = pieces[index] ?? '';
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          missing -= 1;
        }
      }
      if (last % 100_000 === 0) log(`${last} of ${count}`);
    }
    socket.destroy();
  }

  await Promise.all(Array.from({ length: connections }, work));
  return statuses;
}

function describe(statuses: ReadonlyMap<string, number>): string {
  return [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
}

export const manyAddresses: Scenario = abuse({
  name: 'many-addresses',
  title: 'Requests without a key, each from another address',
  minutes: 10,
  settings: { TRUST_PROXY: '1' },
  growthMibMax: 400,
  async misbehave(context, target) {
    const count = share(strangersCount, context.scale);
    const random = createRandom(context.seed);
    const offset = random.between(0, 2 ** 30);
    const addressOf = (number: number) => {
      const bits = offset + number;
      return `${1 + (bits >>> 24)}.${(bits >>> 16) & 255}.${(bits >>> 8) & 255}.${bits & 255}`;
    };
    const write = (number: number) =>
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${addressOf(number)}\r\n\r\n`;
    const statuses = await sendAll(context, target, count, write);
    // Those that find no room share one count, and so one limit.
    const alone = Math.min(count, addressesMax);
    assert.ok((statuses.get('401') ?? 0) >= alone - 1, describe(statuses));
    return {
      done: `A request without a key from each of ${count} addresses`,
      seen: describe(statuses),
      well: 'at once',
    };
  },
});

export const wrongKeys: Scenario = abuse({
  name: 'wrong-keys',
  title: 'Requests with wrong keys, each with another',
  minutes: 10,
  settings: { TRUST_PROXY: '1' },
  growthMibMax: 400,
  async misbehave(context, target) {
    const count = share(strangersCount, context.scale);
    const random = createRandom(context.seed);
    const drawText = () =>
      Array.from({ length: randomLength }, () => base62.charAt(random.between(0, base62.length - 1))).join(
        '',
      );
    // Every other key has a right checksum, so that the store is asked for it.
    const keyOf = (number: number) =>
      number % 2 === 0 ? formatKey('live', drawText()) : `as_live_${String(number).padStart(28, '0')}`;
    const write = (number: number) =>
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.${(number >> 8) & 255}.${number & 255}\r\nAuthorization: Bearer ${keyOf(number)}\r\n\r\n`;
    const statuses = await sendAll(context, target, count, write);
    assert.deepEqual(
      [...statuses.keys()].filter((status) => status !== '401' && status !== '429'),
      [],
    );
    return { done: `A request with each of ${count} wrong keys`, seen: describe(statuses), well: 'at once' };
  },
});
