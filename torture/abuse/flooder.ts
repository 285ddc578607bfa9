/**
 * Floods a service from a worker thread, so that the flood does not delay the good client. Each client opens a
 * connection, sends all its requests at once, waits for the answers or the close, and starts again.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { loopbackAddress } from '../target.ts';

export interface FloodOrder {
  readonly host: string;
  readonly port: number;
  readonly clients: number;
  readonly seconds: number;
  /** The text of one request. */
  readonly text: string;
  readonly requests: number;
}

export interface FloodSum {
  readonly bursts: number;
  readonly answers: number;
  /** Number of bursts that got fewer answers than they had requests. */
  readonly cut: number;
}

const { host, port, clients, seconds, text, requests } = workerData as FloodOrder;
const bytes = Buffer.from(text.repeat(requests), 'latin1');
const endMs = performance.now() + seconds * 1_000;
const addresses = 250;
/** A text that occurs once in each answer. */
const marker = 'x-request-id';
const sum = { bursts: 0, answers: 0, cut: 0 };

function burst(number: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress: loopbackAddress(number % addresses) });
    let answers = 0;
    let rest = '';
    socket.setEncoding('latin1').on('data', (received: string) => {
      // The marker may arrive in two pieces.
      const pieces = (rest + received).split(marker);
      rest = pieces.at(-1)?.slice(1 - marker.length) ?? '';
      answers += pieces.length - 1;
      if (answers >= requests || performance.now() > endMs) socket.end();
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      sum.answers += answers;
      sum.cut += Number(answers < requests && performance.now() < endMs);
      resolve();
    });
    socket.write(bytes);
  });
}

async function behave(): Promise<void> {
  while (performance.now() < endMs) {
    sum.bursts += 1;
    await burst(sum.bursts);
  }
}

await Promise.all(Array.from({ length: clients }, behave));
parentPort?.postMessage(sum satisfies FloodSum);
