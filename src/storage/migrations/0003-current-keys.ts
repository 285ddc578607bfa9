import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Adds indexes of the keys that are not revoked. Revoked keys stay in the table. With these indexes, the lists of an
 * account and the check of its limit do not read them.
 */
export function currentKeysMigration(): Migration {
  return {
    async up(db) {
      await sql`create index api_keys_not_revoked on api_keys (account_id, created_at_ms, id)
        where revoked_at_ms is null or revoked_at_ms = expires_at_ms`.execute(db);
      await sql`create index api_keys_not_ended on api_keys (account_id, expires_at_ms)
        where revoked_at_ms is null`.execute(db);
    },
  };
}
