import { type ClientBase, type ClientConfig, type Connection, types } from 'pg';
import { compileStatement, createRowMaker, placeParameters } from '../compile.ts';
import type { Parameters, Statement, Value } from '../database.ts';
import { requireConfirmed } from './confirmation.ts';
import { throwStorageError } from './faults.ts';

/** A statement with the values of its placeholders. */
export interface PostgresCall {
  /** Each connection prepares the statement under this name. If it is empty, the server parses it at each call. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly Value[];
}

/** The rows of one statement. */
export type Rows = readonly unknown[];

/** Returns the call of a statement. */
export function toCall<P extends Parameters, R>(target: Statement<P, R>, parameters: P): PostgresCall {
  const { sql, name, names } = compileStatement(target, 'postgres', parameters);
  return { name, text: sql, values: placeParameters(names, parameters) };
}

/**
 * Sends statements in order in one round trip and returns the rows of each. Outside a transaction, they form one. After a
 * failure, the server skips the others. Throws AppError `unavailable` for a fault, otherwise the driver's own error.
 */
export async function sendBatch(
  client: ClientBase,
  calls: readonly PostgresCall[],
): Promise<readonly Rows[]> {
  const sent = new Promise<readonly Rows[]>((resolve, reject) => {
    client.query(createBatch(calls, (error, results) => (error ? reject(error) : resolve(results))));
  });
  const results = await sent.catch(throwStorageError);
  requireConfirmed(client);
  return results;
}

/** The prepared statements of a connection, with the readers of their rows: null if none, `unsure` after a failure. */
type Readers = Map<string, RowReader | null | 'unsure'>;

const readersOf = new WeakMap<object, Readers>();

/** Creates a query that handles the messages of the protocol itself. */
function createBatch(
  calls: readonly PostgresCall[],
  callback: (error: Error | null | undefined, results: readonly Rows[]) => void,
) {
  const results: Rows[] = [];
  let readers: Readers = new Map();
  let rows: unknown[] = [];
  let reader: RowReader | null = null;
  let failure: Error | null = null;

  function turnTo(place: number): void {
    const known = readers.get(calls[place]?.name ?? '') ?? null;
    reader = known === 'unsure' ? null : known;
    rows = [];
  }

  return {
    /** The driver replaces this function to apply its timeout. */
    callback,

    submit(connection: Connection) {
      readers = readersOf.get(connection) ?? readers;
      readersOf.set(connection, readers);
      writeCalls(connection, calls, readers);
      turnTo(0);
    },

    handleRowDescription({ fields }: { readonly fields: readonly Column[] }) {
      reader = createRowReader(fields);
    },

    handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }) {
      try {
        if (reader !== null) rows.push(reader(fields));
      } catch (error) {
        failure = error as Error;
      }
    },

    handleCommandComplete() {
      const name = calls[results.length]?.name ?? '';
      if (name !== '') readers.set(name, reader);
      results.push(rows);
      turnTo(results.length);
    },

    handleReadyForQuery() {
      this.callback(failure, results);
    },

    handleError(error: Error) {
      for (const { name } of calls.slice(results.length))
        if (name !== '' && !readers.has(name)) readers.set(name, 'unsure');
      this.callback(error, results);
    },
  };
}

/** Ends the batch with one Sync. After a failure, the server skips all messages up to the Sync. */
function writeCalls(connection: Connection, calls: readonly PostgresCall[], readers: Readers): void {
  const { stream } = connection;
  const parsed = new Set<string>();
  stream.cork();
  try {
    for (const { name, text, values } of calls) {
      const isUnsure = readers.get(name) === 'unsure';
      if ((isUnsure || !readers.has(name)) && !parsed.has(name)) {
        if (name !== '') parsed.add(name);
        // Closing a statement that does not exist is no error. Without doubt, none is closed: behind a pooler that
        // loses statements, the name may be taken, and the start then fails with the reason.
        if (isUnsure) connection.close({ type: 'S', name }, true);
        connection.parse({ name, text, types: [] }, true);
        connection.describe({ type: 'S', name }, true);
      }
      connection.bind({ portal: '', statement: name, values: values.map(toDriverValue) as never }, true);
      connection.execute({ portal: '' }, true);
    }
    connection.sync();
  } finally {
    stream.uncork();
  }
}

function toDriverValue(value: Value): string | Buffer | null {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value === 'string') return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

interface Column {
  readonly name: string;
  readonly dataTypeID: number;
}

type RowReader = ReturnType<typeof createRowReader>;

const integerOids = new Set<number>([types.builtins.INT2, types.builtins.INT4, types.builtins.INT8]);

/** The driver's setting `types`: integers become bigints, and bytes become Buffers. */
export const valueTypes: NonNullable<ClientConfig['types']> = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    integerOids.has(oid) ? BigInt : types.getTypeParser(oid, format),
};

function createRowReader(columns: readonly Column[]) {
  const parsers = columns.map(({ dataTypeID }) => valueTypes.getTypeParser(dataTypeID, 'text'));
  return createRowMaker(
    columns.map(({ name }) => name),
    (text: string | null, place) => (text === null ? null : parsers[place]?.(text)),
  );
}
