import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { type Dialect, SqliteAdapter, SqliteDialect } from 'kysely';

/** DDL of SQLite is transactional; the write lock that `begin immediate` takes is the migrations' lock. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/**
 * A statement as it is to run. SQLite ends a transaction by itself where the disk is full or cannot be written: to roll
 * it back again would be an error of its own, told in place of the first.
 */
function adapt(sql: string, { isTransaction }: DatabaseSync): string {
  if (sql === 'begin') return 'begin immediate';
  return sql === 'rollback' && !isTransaction ? 'select null' : sql;
}

/** Kysely's SQLite dialect over `node:sqlite`, as migrations need it; it does not close the connection. */
export function createSqliteDialect(connection: DatabaseSync): Dialect {
  const dialect = new SqliteDialect({
    database: {
      close: () => undefined,
      prepare(sql) {
        const statement = connection.prepare(adapt(sql, connection));
        const reader = statement.columns().length > 0;
        // What writes gives the last row's id, and throws where that is past 2^53 and no bigint.
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
