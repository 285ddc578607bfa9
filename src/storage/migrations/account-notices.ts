import { sql } from 'kysely';

/** The channel on which PostgreSQL announces an account whose keys or plan changed, by its id. */
export const accountChannel = 'animal_store_accounts';

/**
 * For PostgreSQL: announces at the commit, to every listening instance, each change of what an instance may cache of
 * a key (key-verifier.ts), whoever makes it. No instance caches a new key, and a key's last use changes nothing, so
 * neither is announced.
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
