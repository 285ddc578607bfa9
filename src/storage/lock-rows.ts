import { sql } from 'kysely';
import { statement } from './database.ts';

/**
 * For PostgreSQL: takes the advisory lock of a number until the transaction ends. `is_free` is false while another
 * transaction has it.
 */
export const tryLock = statement<{ lock: bigint }>()((query, p) =>
  query.selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(cast(${p.lock} as bigint))`.as('is_free')),
);
