/** The state of a store, read without changing the store. */
export interface Inspection {
  /** Names of the migrations that ran, in order. Empty if there are no tables. */
  readonly migrations: readonly string[];
  /** Time of the newest row in Unix milliseconds. Null if no row has a time, or the schema is not the newest. */
  readonly newestRowMs: number | null;
  /** Ids of valid API keys of other environments, at most `foreignKeysMax`. */
  readonly foreignKeys: readonly string[];
}

/** Maximum number of keys of other environments that an inspection lists. */
export const foreignKeysMax = 10;

/**
 * Returns a query for any engine. It selects the ids of keys that are valid at `nowMs` and do not start with
 * `as_<environment>_`.
 */
export function foreignKeysSql(environment: string, nowMs: number): string {
  return `select id from api_keys where visible_start not like 'as_${environment}_%'
    and (expires_at_ms is null or expires_at_ms > ${nowMs})
    and (revoked_at_ms is null or revoked_at_ms = expires_at_ms) order by id limit ${foreignKeysMax}`;
}

/**
 * Query for any engine that selects the time of the newest row. It needs the newest schema. `usage_windows` has the
 * reset time of the day window, so the query subtracts one day.
 */
export const newestRowSql = `
  select max(at_ms) as newest from (
    select max(created_at_ms) as at_ms from accounts
    union all select max(created_at_ms) from api_keys
    union all select max(last_used_at_ms) from api_keys
    union all select max(created_at_ms) from first_answers
    union all select max(day_ends_at_ms) - 86400000 from usage_windows
  ) as times`;

/** Query for any engine that selects the names of the migrations that ran, in order. */
export const migrationsSql = 'select name from schema_migrations order by name';
