/** The state of a store, found without changing anything in it. */
export interface Inspection {
  /** The names of the migrations that ran, in order. Empty if there are no tables yet. */
  readonly migrations: readonly string[];
  /** The time of its newest row in epoch milliseconds. Null if no row has one. */
  readonly newestRowMs: number | null;
  /** Ids of valid keys of other environments than the given one, at most `foreignKeysMax`. */
  readonly foreignKeys: readonly string[];
}

/** The most keys of other environments that an inspection names. */
export const foreignKeysMax = 10;

/**
 * Selects the ids of keys that are valid at a time and belong to another environment than `as_<environment>_`, on
 * every engine.
 */
export function foreignKeysSql(environment: string, nowMs: number): string {
  return `select id from api_keys where visible_start not like 'as_${environment}_%'
    and (expires_at_ms is null or expires_at_ms > ${nowMs})
    and (revoked_at_ms is null or revoked_at_ms = expires_at_ms) order by id limit ${foreignKeysMax}`;
}

/**
 * Selects the time of the newest row of a store with the newest schema, on every engine. A day window opens a day
 * before its end.
 */
export const newestRowSql = `
  select max(at_ms) as newest from (
    select max(created_at_ms) as at_ms from accounts
    union all select max(created_at_ms) from api_keys
    union all select max(last_used_at_ms) from api_keys
    union all select max(created_at_ms) from first_answers
    union all select max(day_ends_at_ms) - 86400000 from usage_windows
  ) as times`;

/** Selects the names of the migrations that ran, in order, on every engine. */
export const migrationsSql = 'select name from schema_migrations order by name';
