import { sql } from 'kysely';

/** Where PostgreSQL tells of an account, by its number, whose keys or plan have been changed. */
export const accountChannel = 'animal_store_accounts';

/**
 * For PostgreSQL: tells every listening instance, with the commit of the change and whoever makes it, of what an
 * instance may remember of a key (key-verifier.ts). A new key is remembered by nobody, and its last use changes nothing.
 */
export function tellAccountChanges() {
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
