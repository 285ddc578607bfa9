import { sql } from 'kysely';
import { statement } from './database.ts';

/**
 * For PostgreSQL: keeps a lock, which a number names, from other instances until the transaction ends; `is_free` is false
 * while another one has it.
 */
export const tryLock = statement<{ lock: bigint }>()((query, p) =>
  query.selectNoFrom(sql<boolean>`pg_try_advisory_xact_lock(cast(${p.lock} as bigint))`.as('is_free')),
);
