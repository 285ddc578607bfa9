/**
 * The SQLSTATE `unique_violation` of PostgreSQL, and the codes SQLITE_CONSTRAINT_PRIMARYKEY and
 * SQLITE_CONSTRAINT_UNIQUE of SQLite.
 */
const uniqueViolation = { code: '23505', errcodes: [1555, 2067] };

/** Returns true if an error of any engine means that a row with the same primary or unique key exists. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return code === uniqueViolation.code || uniqueViolation.errcodes.some((known) => known === errcode);
}

/** The SQLSTATE `undefined_table` of PostgreSQL. */
const undefinedTable = '42P01';

/** Returns true if an error of any engine means that a table does not exist. */
export function isMissingTable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === undefinedTable) || /^no such table: /.test(error.message);
}
