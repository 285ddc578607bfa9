import { setTimeout as pause } from 'node:timers/promises';
import { exchange } from '../../exchange.ts';
import { query } from '../../instances/database.ts';
import { creation, newAnimal } from '../../writes.ts';
import { startClients } from '../clients.ts';
import { type Ground, withService } from '../ground.ts';
import type { Row } from '../row.ts';
import { formatRequest, newNumber } from '../texts.ts';

const connections = 64;
/** Each refused add reuses one of these keys with another body. */
const reusedKeys = Array.from({ length: 100 }, (_, index) => `reused-${index}`);
const otherBody = newAnimal.replace('Rex', 'Max');
const fifth = 0.2;

export const reused: Row = {
  name: 'reused-keys',
  title: '64 clients that add with an Idempotency-Key, a third of the adds refused with 422, over PostgreSQL',
  engine: 'PostgreSQL',
  measure: (ground, note) =>
    withService(ground, async ({ origin }) => {
      const { key } = ground;
      await addFor(ground, origin, 'warm-up', () => []);
      for (const reusedKey of reusedKeys)
        await exchange(origin, creation, { authorization: `Bearer ${key}`, 'idempotency-key': reusedKey });
      const none = await addFor(ground, origin, 'none', () => []);
      const third = await addFor(ground, origin, 'third', (reusedKey) => [
        formatRequest({ ...creation, body: otherBody }, key, reusedKey),
      ]);
      note('none refused', none);
      note('a third refused', third);
      const most = (value: number) => value * (1 + fifth);
      return [
        {
          goal: 'time of the other adds: p50',
          value: third.p50Ms,
          max: most(none.p50Ms),
          unit: 'ms',
          rule: '1.2 × without refusals',
        },
        {
          goal: 'writing transactions for 1,000 adds',
          value: 1_000 * third.transactionsPerRequest,
          max: most(1_000 * none.transactionsPerRequest),
          unit: '/ 1,000',
          rule: '1.2 × without refusals',
        },
        { goal: 'answers but 201 and 422', value: none.others + third.others, max: 0, unit: '' },
      ];
    }),
};

/** Adds for some seconds. For each reused key, two adds have new keys, and `more` returns the refused ones. */
async function addFor(
  { key, databaseUrl, seconds }: Ground,
  origin: string,
  prefix: string,
  more: (reusedKey: string) => string[],
) {
  const add = formatRequest(creation, key, `${prefix}-${newNumber}`);
  const texts = reusedKeys.flatMap((reusedKey) => [add, add, ...more(reusedKey)]);
  const crowd = await startClients({ kind: 'askers', origin, connections, texts });
  const before = await countTransactions(databaseUrl);
  await pause(seconds * 1_000);
  const transactions = (await countTransactions(databaseUrl)) - before;
  const { p50Ms, answers } = await crowd.stop();
  const { 201: added = 0, 422: refused = 0, ...others } = answers;
  return {
    answers,
    p50Ms: p50Ms[201] ?? Number.NaN,
    transactionsPerRequest: transactions / (added + refused),
    others: Object.values(others).reduce((sum, count) => sum + count, 0),
  };
}

/** The number of transactions that have written so far, in all databases of the server. */
async function countTransactions(databaseUrl: string): Promise<number> {
  const sql = 'select pg_current_xact_id()::text as count';
  const [row] = await query<{ count: string }>(databaseUrl, sql);
  return Number(row?.count);
}
