import { setTimeout as pause } from 'node:timers/promises';
import { hotPage } from '../scenarios.ts';
import { creation } from '../writes.ts';
import { startClients } from './clients.ts';
import type { Ask } from './connection.ts';
import type { Asked } from './good-client.ts';
import { formatRequest } from './texts.ts';

/** The time between the moment when a crowd is there and the first request of the good client. */
export const settleMs = 500;
const warmUpMs = 1_500;
const warmUpConnections = 64;

/** A read of the newest page, which must be answered with 200. */
export function readAsk(origin: string, key: string, isFresh = false): Ask {
  return { origin, text: formatRequest(hotPage, key), status: 200, isFresh };
}

/** An add of an animal, which must be answered with 201. */
export function addAsk(origin: string, key: string, isFresh = false): Ask {
  return { origin, text: formatRequest(creation, key), status: 201, isFresh };
}

/** A check of readiness, at the operator's port. */
export function readyAsk(opsOrigin: string, isFresh = false): Ask {
  return {
    origin: opsOrigin,
    text: formatRequest({ method: 'GET', path: '/readyz' }, ''),
    status: 200,
    isFresh,
  };
}

/** Lets V8 compile the hot code of a server, and lets the server know the key. */
export async function warmUp(origin: string, key: string, isReading = true): Promise<void> {
  const read = formatRequest(hotPage, key);
  const texts = isReading ? [read] : [read, formatRequest(creation, key)];
  const crowd = await startClients({ kind: 'askers', origin, connections: warmUpConnections, texts });
  await pause(warmUpMs);
  await crowd.stop();
}

/** Sends the requests of good clients for some seconds. Returns the times of each Ask. */
export async function askFor<const Asks extends readonly Ask[]>(
  asks: Asks,
  seconds: number,
): Promise<{ [place in keyof Asks]: Asked }> {
  const client = await startClients({ kind: 'good-client', asks, seconds });
  return (await client.seen) as { [place in keyof Asks]: Asked };
}
