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
    transact(work, input) {
      calls += 1;
      return database.transact(work, input);
    },
  };
}

/**
 * Wraps a database. Its reads run immediately, but return their rows only after `release`. `firstRows` resolves when the
 * first read has its rows.
 */
export function holdAnswers(database: Database) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: firstRows, resolve: noteRows } = Promise.withResolvers<void>();
  const read: Database['read'] = async (statement, parameters) => {
    const rows = await database.read(statement, parameters);
    noteRows();
    await released;
    return rows;
  };
  return { ...database, read, firstRows, release };
}
