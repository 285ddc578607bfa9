/** The SQLSTATE `undefined_table` of PostgreSQL. */
const undefinedTable = '42P01';

/** Returns true if an error of any engine means that a table does not exist. */
export function isMissingTable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === undefinedTable) || /^no such table: /.test(error.message);
}
