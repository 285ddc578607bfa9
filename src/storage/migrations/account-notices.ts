import { sql } from 'kysely';

/** The PostgreSQL channel for changes of accounts. The payload is the id of an account whose keys or plan changed. */
export const accountChannel = 'animal_store_accounts';

/**
 * Creates PostgreSQL triggers that notify every listening instance when a change of an account or a key is committed.
 * The triggers cover all columns that an instance may cache (key-verifier.ts), and changes by any program.
 *
 * Two changes need no notice. A new key is in no cache, and the last use of a key is not cached.
 */
export function notifyAccountChanges() {
  return [
    sql.raw(`create function tell_account_change() returns trigger language plpgsql as
      'begin perform pg_notify(''${accountChannel}'', to_jsonb(old) ->> tg_argv[0]); return null; end'`),
    sql`create trigger api_keys_changed
      after delete or update of account_id, secret_hash, scopes, expires_at_ms, revoked_at_ms on api_keys
      for each row execute function tell_account_change('account_id')`,
    sql`create trigger accounts_changed
      after delete or update on accounts
      for each row execute function tell_account_change('id')`,
  ];
}
