import type { ClientBase, Connection, Submittable } from 'pg';
import type { Value } from '../database.ts';
import { throwStorageError } from './faults.ts';
import type { Call } from './prepared.ts';
import { type Column, createRowReader, type RowReader } from './row-reader.ts';

/** The rows of one statement. */
export type Rows = readonly unknown[];

/**
 * Sends statements in order in one round trip and returns the rows of each statement. Outside a transaction, the
 * statements form one transaction: all of them take effect, or none. Inside a transaction, the server skips all
 * statements after the first failure. The server parses and describes a statement once per connection.
 *
 * Throws AppError `unavailable` for a fault, otherwise the driver's own error.
 */
export function sendBatch(client: ClientBase, calls: readonly Call[]): Promise<readonly Rows[]> {
  const sent = withoutStatements.has(client) ? calls.map(withoutName) : calls;
  return new Promise<readonly Rows[]>((resolve, reject) => {
    client.query(createBatch(sent, (error, results) => (error ? reject(error) : resolve(results))));
  }).catch(throwStorageError);
}

const withoutStatements = new WeakSet<object>();

/** Turns off prepared statements on a connection. The server then parses and describes a statement at each call. */
export function keepNoStatements(client: ClientBase): void {
  withoutStatements.add(client);
}

/**
 * The state of a prepared statement on a connection:
 * - A reader for its rows.
 * - `null` if the statement returns no rows.
 * - `unsure` if a failure leaves open whether the statement is prepared.
 */
type Known = RowReader | null | 'unsure';

const statementsOf = new WeakMap<object, Map<string, Known>>();

/** A query for pg that handles the protocol messages itself. */
interface Batch extends Submittable {
  /** The driver replaces this function to apply its timeout. */
  callback: (error: Error | null | undefined, results: readonly Rows[]) => void;
  handleRowDescription(message: { readonly fields: readonly Column[] }): void;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
  handleCommandComplete(): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

function createBatch(calls: readonly Call[], callback: Batch['callback']): Batch {
  const results: Rows[] = [];
  let statements = new Map<string, Known>();
  let rows: unknown[] = [];
  /** The reader for the rows that arrive now. */
  let reader: RowReader | null = null;
  let failure: Error | null = null;

  /** Selects the reader of the statement at `place`. */
  function turnTo(place: number): void {
    const known = statements.get(calls[place]?.prepared.name ?? '');
    reader = known === undefined || known === 'unsure' ? null : known;
    rows = [];
  }

  return {
    callback,

    submit(connection) {
      statements = findStatements(connection);
      writeCalls(connection, calls, statements);
      turnTo(0);
    },

    handleRowDescription({ fields }) {
      reader = createRowReader(fields);
    },

    handleDataRow({ fields }) {
      try {
        if (reader !== null) rows.push(reader(fields));
      } catch (error) {
        failure = error as Error;
      }
    },

    handleCommandComplete() {
      const { name } = calls[results.length]?.prepared ?? { name: '' };
      if (name !== '') statements.set(name, reader);
      results.push(rows);
      turnTo(results.length);
    },

    handleReadyForQuery() {
      this.callback(failure, results);
    },

    handleError(error) {
      for (const { prepared } of calls.slice(results.length))
        if (prepared.name !== '' && !statements.has(prepared.name)) statements.set(prepared.name, 'unsure');
      this.callback(error, results);
    },
  };
}

function findStatements(connection: Connection): Map<string, Known> {
  const known = statementsOf.get(connection) ?? new Map<string, Known>();
  statementsOf.set(connection, known);
  return known;
}

/** Ends the batch with one Sync. After a failure, the server skips all messages up to the Sync. */
function writeCalls(
  connection: Connection,
  calls: readonly Call[],
  statements: ReadonlyMap<string, Known>,
): void {
  const { stream } = connection;
  const parsed = new Set<string>();
  stream.cork();
  try {
    for (const { prepared, values } of calls) {
      const { name, text } = prepared;
      const known = statements.get(name);
      if (name === '') {
        connection.parse({ name, text, types: [] }, true);
        connection.describe({ type: 'S', name }, true);
      } else if ((known === undefined || known === 'unsure') && !parsed.has(name)) {
        parsed.add(name);
        if (known === 'unsure') connection.close({ type: 'S', name }, true);
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

function withoutName({ prepared: { text }, values }: Call): Call {
  return { prepared: { name: '', text }, values };
}

function toDriverValue(value: Value): string | Buffer | null {
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value === 'string') return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
