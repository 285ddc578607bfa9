import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { SqliteAdapter, SqliteDialect } from 'kysely';

/**
 * SQLite's DDL is transactional. Migrations need no separate lock, because `begin immediate` takes the write lock.
 */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class TransactionalSqliteDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter();
  }
}

/**
 * Adapts a statement of Kysely. If the disk is full or fails, SQLite itself rolls back the transaction. Another
 * rollback would then fail and hide the first error, so a harmless statement replaces it.
 */
function adapt(sql: string, { isTransaction }: DatabaseSync): string {
  if (sql === 'begin') return 'begin immediate';
  return sql === 'rollback' && !isTransaction ? 'select null' : sql;
}

/** Creates Kysely's SQLite dialect on `node:sqlite`, for migrations. The dialect does not close the connection. */
export function createSqliteDialect(connection: DatabaseSync): SqliteDialect {
  return new TransactionalSqliteDialect({
    database: {
      close: () => undefined,
      prepare(sql) {
        const statement = connection.prepare(adapt(sql, connection));
        const reader = statement.columns().length > 0;
        // A write returns the id of the last row. Without bigints, Node throws if the id is above 2^53.
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
}
