import type { Database } from '../../src/storage/database.ts';

/** Wraps a database and counts its reads and transactions. */
export function countCalls(database: Database): Database & { readonly calls: () => number } {
  let calls = 0;
  return {
    ...database,
    calls: () => calls,
    read(statement, parameters) {
      calls += 1;
      return database.read(statement, parameters);
    },
    readNow:
      database.readNow &&
      ((statement, parameters) => {
        calls += 1;
        return database.readNow?.(statement, parameters) ?? [];
      }),
    run(statement, parameters) {
      calls += 1;
      return database.run(statement, parameters);
    },
    transact(work, input) {
      calls += 1;
      return database.transact(work, input);
    },
  };
}

export interface HeldDatabase extends Database {
  /** Resolves when the first read has its rows. */
  readonly firstRows: Promise<void>;
  readonly release: () => void;
}

/** Wraps a database. Its reads run immediately, but return their rows only after `release`. */
export function holdAnswers(database: Database): HeldDatabase {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: firstRows, resolve: noteRows } = Promise.withResolvers<void>();
  return {
    ...database,
    firstRows,
    release,
    async read(statement, parameters) {
      const rows = await database.read(statement, parameters);
      noteRows();
      await released;
      return rows;
    },
  };
}
