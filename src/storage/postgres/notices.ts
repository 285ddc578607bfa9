import { setTimeout } from 'node:timers/promises';
import type { Client } from 'pg';
import { accountChannel } from '../migrations/account-notices.ts';
import { createClient } from './client.ts';
import { createPostgresSockets } from './sockets.ts';

/** Shortest and longest pause before a reconnect, in ms. Each pause is multiplied by a random factor below 1. */
const pauseMsMin = 100;
const pauseMsMax = 5_000;
/** Interval in ms of the connection check, and timeout in ms of each response. */
const checkEveryMs = 10_000;
const answerMsMax = 5_000;

/**
 * Implements `watchAccounts` on PostgreSQL, on a separate connection that reconnects forever. Returns the function that
 * stops watching. Behind a pooler in transaction mode, no notices arrive.
 */
export function watchAccounts(url: string, onChange: (accountId: bigint | null) => void): () => void {
  const sockets = createPostgresSockets();
  const ended = new AbortController();

  async function listen(): Promise<void> {
    const client = createClient(url, { query_timeout: answerMsMax, stream: sockets.stream });
    client.on('notification', ({ payload = '' }) => onChange(readAccountId(payload)));
    const lost = new AbortController();
    client.once('end', () => lost.abort());
    await client.connect();
    await client.query(`listen ${accountChannel}`);
    // Notices sent before the connection listened are lost.
    onChange(null);
    await keepChecking(client, AbortSignal.any([ended.signal, lost.signal]));
  }

  async function keepChecking(client: Client, signal: AbortSignal): Promise<never> {
    for (;;) {
      await setTimeout(checkEveryMs, undefined, { ref: false, signal });
      await client.query('select 1');
    }
  }

  async function watch(): Promise<void> {
    const { signal } = ended;
    for (let pauseMs = pauseMsMin; !signal.aborted; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      const startedAtMs = performance.now();
      // The error is ignored here, because every other call to the database reports the fault.
      await listen().catch(() => undefined);
      sockets.destroy();
      if (performance.now() - startedAtMs > pauseMsMax) pauseMs = pauseMsMin;
      await setTimeout(Math.random() * pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }
  watch();

  return () => {
    ended.abort();
    sockets.destroy();
  };
}

/** Returns null (all accounts) if another program wrote to the channel. */
function readAccountId(payload: string): bigint | null {
  return /^\d{1,19}$/.test(payload) ? BigInt(payload) : null;
}
