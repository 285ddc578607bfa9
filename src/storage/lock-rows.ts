import { sql } from 'kysely';
import { statement } from './database.ts';

/**
 * Only for PostgreSQL. Tries to take an advisory lock until the transaction ends. `is_free` is false if another
 * transaction has the lock.
 */
export const tryLock = statement<{ lock: bigint }>()((query, p) =>
  query.selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(cast(${p.lock} as bigint))`.as('is_free')),
);
