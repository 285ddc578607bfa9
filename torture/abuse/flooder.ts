/**
 * Floods a service from a worker thread, so that the flood does not delay the good client. Each client opens a
 * connection, sends all its requests at once, waits for the answers or the close, and starts again.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { createRandom } from '../random.ts';
import { type FloodKind, floodTexts } from './flood-texts.ts';
import { loopbackAddress } from './sockets.ts';

export interface FloodOrder {
  readonly kind: FloodKind;
  readonly seed: number;
  readonly host: string;
  readonly port: number;
  readonly clients: number;
  readonly seconds: number;
  /** Number of requests that each client sends at once. */
  readonly requests: number;
}

export interface FloodSum {
  readonly bursts: number;
  /** Number of answers by status. */
  readonly statuses: ReadonlyMap<string, number>;
  /** Number of bursts that got fewer answers than they had requests. */
  readonly cut: number;
}

const { kind, seed, host, port, clients, seconds, requests } = workerData as FloodOrder;
const random = createRandom(seed);
const endMs = performance.now() + seconds * 1_000;
const addresses = 250;
const statuses = new Map<string, number>();
let bursts = 0;
let cut = 0;

function burst(number: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress: loopbackAddress(number % addresses) });
    let answers = 0;
    let rest = '';
    socket.setEncoding('latin1').on('data', (received: string) => {
      // Each answer ends with the field `status` of its body.
      const pieces = (rest + received).split(/"status":(\d{3})\}/);
      rest = pieces.at(-1) ?? '';
      for (const status of pieces.filter((_, place) => place % 2 === 1)) {
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        answers += 1;
      }
      if (answers >= requests || performance.now() > endMs) socket.end();
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      cut += Number(answers < requests && performance.now() < endMs);
      resolve();
    });
    socket.write(Array.from({ length: requests }, () => floodTexts[kind](random)).join(''), 'latin1');
  });
}

async function behave(): Promise<void> {
  while (performance.now() < endMs) {
    bursts += 1;
    await burst(bursts);
  }
}

await Promise.all(Array.from({ length: clients }, behave));
parentPort?.postMessage({ bursts, statuses, cut } satisfies FloodSum);
