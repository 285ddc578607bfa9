/**
 * A thread of its own that floods a service, so that the good client beside it does not wait for its work. Each client
 * sends requests all at once on a connection, waits for their answers or the end, and comes again at once.
 */
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { loopbackAddress } from '../target.ts';

export interface FloodOrder {
  readonly host: string;
  readonly port: number;
  readonly clients: number;
  readonly seconds: number;
  /** What each client sends at once. */
  readonly text: string;
  readonly requests: number;
}

export interface FloodSum {
  readonly bursts: number;
  readonly answers: number;
  /** How many bursts got fewer answers than they had requests. */
  readonly cut: number;
}

const { host, port, clients, seconds, text, requests } = workerData as FloodOrder;
const bytes = Buffer.from(text.repeat(requests), 'latin1');
const endMs = performance.now() + seconds * 1_000;
const addresses = 250;
/** In each answer once. */
const told = 'x-request-id';
const sum = { bursts: 0, answers: 0, cut: 0 };

function burst(number: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress: loopbackAddress(number % addresses) });
    let answers = 0;
    let rest = '';
    socket.setEncoding('latin1').on('data', (received: string) => {
      // The header that tells an answer may come in two pieces.
      const pieces = (rest + received).split(told);
      rest = pieces.at(-1)?.slice(1 - told.length) ?? '';
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
