import { setTimeout } from 'node:timers/promises';
import type { Client } from 'pg';
import { accountChannel } from '../migrations/account-notices.ts';
import { createClient } from './client.ts';
import { createPostgresSockets } from './sockets.ts';

/** The pause before the first attempt to connect anew, and the longest, of which each takes a random part. */
const pauseMsMin = 100;
const pauseMsMax = 5_000;
/** How often the server is asked whether it is still there, and how long it may take to answer. */
const askEveryMs = 10_000;
const answerMsMax = 5_000;

/**
 * `watchAccounts` of the PostgreSQL engine, over a connection of its own that is made anew for as long as it takes;
 * gives what ends it. Behind a pooler that lends a connection for a transaction only, nothing is ever told.
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
    // What was told before is not told again.
    onChange(null);
    await askOnAndOn(client, AbortSignal.any([ended.signal, lost.signal]));
  }

  async function askOnAndOn(client: Client, signal: AbortSignal): Promise<never> {
    for (;;) {
      await setTimeout(askEveryMs, undefined, { ref: false, signal });
      await client.query('select 1');
    }
  }

  async function watch(): Promise<void> {
    const { signal } = ended;
    for (let pauseMs = pauseMsMin; !signal.aborted; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      const startedAtMs = performance.now();
      // What keeps it from listening is told by every other call of the database.
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

/** Null, for all of them, where somebody else has written to the channel. */
function readAccountId(payload: string): bigint | null {
  return /^\d{1,19}$/.test(payload) ? BigInt(payload) : null;
}
