import { setTimeout as pause } from 'node:timers/promises';
import { percentileOf } from '../statistics.ts';
import type { Run } from './client.ts';
import { type Ask, type Connection, openConnection } from './connection.ts';

/** Good clients, one for each Ask. */
export interface GoodClientOrder {
  readonly kind: 'good-client';
  readonly asks: readonly Ask[];
  readonly seconds: number;
}

/** The times of the answers to an Ask. A request without an answer counts with the time for which it waited. */
export interface Asked {
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly p99Ms: number;
  readonly sent: number;
  /** What went wrong: another status, a closed connection or no answer, by their number. */
  readonly failures: Readonly<Record<string, number>>;
}

const everyMs = 25;
/** The time after the last request in which answers may still come. */
const graceMs = 2_000;

/** Returns the times of each Ask. */
export async function runGoodClient(order: GoodClientOrder, { onReady }: Run): Promise<readonly Asked[]> {
  onReady();
  return await Promise.all(order.asks.map((ask) => askAgain(ask, order.seconds)));
}

/**
 * Sends a request every 25 ms. If the connection still waits for an answer then, the request is sent as soon as it has
 * come, but its time counts from when it was due. So a long stall counts for all requests that it delays.
 */
async function askAgain(ask: Ask, seconds: number): Promise<Asked> {
  const startMs = performance.now();
  const endsAtMs = startMs + seconds * 1_000;
  const waitsMs: number[] = [];
  const failures: Record<string, number> = {};
  const pending: Promise<void>[] = [];
  let connection: Connection | null = null;

  async function send(fromMs: number): Promise<void> {
    const used = ask.isFresh || !connection?.isOpen() ? openConnection(ask) : connection;
    connection = used;
    const failure = await used.request(endsAtMs + graceMs);
    waitsMs.push(performance.now() - fromMs);
    if (failure !== null) failures[failure] = (failures[failure] ?? 0) + 1;
    if (ask.isFresh) used.close();
  }

  for (let dueMs = startMs; dueMs < endsAtMs; dueMs += everyMs) {
    const earlyMs = dueMs - performance.now();
    if (earlyMs > 0) await pause(earlyMs);
    const sending = send(earlyMs > 0 ? performance.now() : dueMs);
    if (ask.isFresh) pending.push(sending);
    else await sending;
  }
  await Promise.all(pending);
  const [p50Ms = 0, p90Ms = 0, p99Ms = 0] = [0.5, 0.9, 0.99].map((share) => percentileOf(waitsMs, share));
  return { p50Ms, p90Ms, p99Ms, sent: waitsMs.length, failures };
}
