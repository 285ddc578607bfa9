/** PostgreSQL's `unique_violation`; SQLite's SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE. */
const uniqueViolation = { code: '23505', errcodes: [1555, 2067] };

/** Whether a statement failed, on any engine, because a row with the same primary or unique key exists. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  return code === uniqueViolation.code || uniqueViolation.errcodes.some((known) => known === errcode);
}
