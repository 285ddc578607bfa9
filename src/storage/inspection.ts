/** What is told of a store by looking at it alone: nothing in it is changed, and its schema stays as it is. */
export interface Inspection {
  /** The names of the migrations that it has behind it, in their order; none where there are no tables yet. */
  readonly migrations: readonly string[];
  /** The latest time that any of its rows was written, epoch milliseconds; null where no row tells one. */
  readonly newestRowMs: number | null;
  /** Ids of valid keys of other environments than the one that was asked for, at most `foreignKeysMax`. */
  readonly foreignKeys: readonly string[];
}

/** How many keys of other environments an inspection names. */
export const foreignKeysMax = 10;

/** The ids of keys that are valid at a time and belong to another environment than `as_<environment>_`, on every engine. */
export function foreignKeysSql(environment: string, nowMs: number): string {
  return `select id from api_keys where visible_start not like 'as_${environment}_%'
    and (expires_at_ms is null or expires_at_ms > ${nowMs})
    and (revoked_at_ms is null or revoked_at_ms = expires_at_ms) order by id limit ${foreignKeysMax}`;
}

/**
 * The latest time that the rows of a store with the newest schema tell, on every engine. A window of the limits opens
 * with a request, a day before its day ends.
 */
export const newestRowSql = `
  select max(at_ms) as newest from (
    select max(created_at_ms) as at_ms from accounts
    union all select max(created_at_ms) from api_keys
    union all select max(last_used_at_ms) from api_keys
    union all select max(created_at_ms) from first_answers
    union all select max(day_ends_at_ms) - 86400000 from usage_windows
  ) as times`;

/** The names of the migrations that a store has behind it, in their order, on every engine. */
export const migrationsSql = 'select name from schema_migrations order by name';
