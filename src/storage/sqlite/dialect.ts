import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { type Dialect, SqliteAdapter, SqliteDialect } from 'kysely';

/** SQLite's DDL is transactional. The write lock of `begin immediate` serves as the lock of migrations. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * Adapts a statement of Kysely. SQLite rolls back by itself when the disk is full or cannot be written. Another
 * rollback would fail and hide the first error.
 */
function adapt(sql: string, { isTransaction }: DatabaseSync): string {
  if (sql === 'begin') return 'begin immediate';
  return sql === 'rollback' && !isTransaction ? 'select null' : sql;
}

/** Kysely's SQLite dialect on `node:sqlite`, for migrations. It does not close the connection. */
export function createSqliteDialect(connection: DatabaseSync): Dialect {
  const dialect = new SqliteDialect({
    database: {
      close: () => undefined,
      prepare(sql) {
        const statement = connection.prepare(adapt(sql, connection));
        const reader = statement.columns().length > 0;
        // A write returns the last row's id. Without bigints it throws beyond 2^53.
        if (!reader) statement.setReadBigInts(true);
        const values = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
        return {
          reader,
          all: (parameters) => statement.all(...values(parameters)),
          run: (parameters) => statement.run(...values(parameters)),
          iterate: (parameters) => statement.iterate(...values(parameters)),
        };
      },
    },
  });
  return {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}
