import type { Compilable, QueryCreator, RawBuilder } from 'kysely';
import type { Soon } from '../soon.ts';
import type { Tables } from './tables.ts';

/** A value of a column on any engine. Integers are bigints, so that they keep all digits. */
export type Value = string | bigint | Uint8Array | null;

/** The named values of a statement. */
export type Parameters = Readonly<Record<string, Value>>;

/** The parts of SQL that differ between engines. */
export interface Dialect {
  readonly engine: 'sqlite' | 'postgres';
  /** The store's clock in Unix milliseconds. On PostgreSQL it is the server's, read when the statement runs. */
  readonly nowMs: RawBuilder<bigint>;
  /** The int64 values of a parameter that is a JSON array, as a subquery: `id in (…)`. */
  listIntegers(json: string): RawBuilder<bigint>;
  /** The texts of such a parameter. */
  listTexts(json: string): RawBuilder<string>;
}

/** A statement of SQL. It is built and prepared once for each engine, and run with named parameters. */
export interface Statement<P extends Parameters, R> {
  readonly build: (query: QueryCreator<Tables>, parameters: P, dialect: Dialect) => Compilable<R>;
  /** For a statement that adds a row and returns its `id`: builds it for several rows at once. */
  readonly buildRows?: (query: QueryCreator<Tables>, rows: readonly P[]) => Compilable<R>;
  /**
   * For a statement that writes: it never waits for a row lock. So on PostgreSQL it can share a transaction with
   * concurrent ones. Statements that add rows share one too.
   */
  readonly waitsForNoRowLock?: true;
}

/** One step of a transaction: a statement and its values. */
export interface Step {
  readonly statement: Statement<Parameters, unknown>;
  readonly parameters: Parameters;
}

/** A running transaction body. It yields steps and gets their rows back. A failed step ends it. */
export type Work<T> = Generator<Step, T, readonly unknown[]>;

/**
 * The isolation of concurrent works on PostgreSQL. SQLite runs works one after the other.
 *
 * `serializable`: as if they ran one after the other; a work that conflicts is repeated. `row locks`: each step sees
 * everything committed before it, and the rows that it changes stay locked until the end. Such a work decides only by
 * conditional writes, and does not wait for works on other rows.
 */
export type Isolation = 'serializable' | 'row locks';

/**
 * A transaction that any thread can run: its body, and the module that exports it under this name. Input and result
 * must be cloneable (structured clone). Time and random values are part of the input.
 */
export interface NamedWork<I, T> {
  readonly module: string;
  readonly name: string;
  readonly isolation: Isolation;
  readonly body: (input: I) => Work<T>;
}

/** Options of `load`. */
export interface LoadOptions {
  /** Called when reading ends and writing begins. */
  readonly onWrite?: (() => void) | undefined;
  /**
   * For rows that may also change existing ones. Each row has two more values: the id of the row that it changes, or
   * null, and its line.
   */
  readonly changes?:
    | {
        /** Runs before rows are added, in the same transaction. The table `loaded` has all rows that were read. */
        readonly apply: () => Work<void>;
        /** Rolls back at the end. `load` returns how many rows it would have added. */
        readonly isDryRun: boolean;
      }
    | undefined;
}

/**
 * The interface to the databases. Every method throws AppError `unavailable` if the database cannot do its part now
 * or is closed; nothing is done then. If a connection is lost during a commit, it is unknown whether everything or
 * nothing was done. A broken constraint (constraint.ts), or a mistake in a statement, throws the engine's own
 * error.
 */
export interface Database {
  readonly engine: 'sqlite' | 'postgres';

  /**
   * The rows of one statement, outside of a transaction. Sees everything committed before the call. An engine in this
   * process reads within the call.
   */
  read<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Soon<readonly R[]>;

  /** Like `read`, for statements too short to be timed. Null if a read is a round trip. */
  readonly readNow:
    | (<P extends Parameters, R>(statement: Statement<P, R>, parameters: P) => readonly R[])
    | null;

  /** Runs one writing statement. Settles when it is durable. */
  run<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]>;

  /**
   * Runs a work completely or not at all, with its isolation. Settles when it is durable. The body may run more than
   * once and on another thread, so it must have no other effects. It throws errors of errors.ts with class, code and
   * message; any other error arrives as an Error with its message.
   */
  transact<I, T>(work: NamedWork<I, T>, input: I): Promise<T>;

  /**
   * Adds rows to a table in their order, all or none, and returns their number. Reads the whole source before it
   * touches the table; an error of the source leaves the table as it was. Throws OutcomeUnknownError if the
   * connection is lost.
   */
  load(
    table: keyof Tables,
    columns: readonly string[],
    batches: AsyncIterable<readonly (readonly Value[])[]>,
    options?: LoadOptions,
  ): Promise<number>;

  /**
   * Calls `onChange` soon after each commit that changes or deletes a plan or a key of an account, whoever made it.
   * Null as account: changes of any account may have been missed. No notices arrive while the connection is broken,
   * so nobody may rely on them alone. The member is null if the engine has no notices.
   */
  readonly watchAccounts: ((onChange: (accountId: bigint | null) => void) => void) | null;

  /** Waits for all pending calls except loads, then closes the database. Closing it again does nothing. */
  close(): Promise<void>;
}

/** Declares a statement. `P` names its parameters; the row type follows from the query. */
export function statement<P extends Parameters>() {
  return <R>(build: Statement<P, R>['build']): Statement<P, R> => ({ build });
}

/** Declares a statement that writes and never waits for a row lock. */
export function sharingStatement<P extends Parameters>() {
  return <R>(build: Statement<P, R>['build']): Statement<P, R> => ({ build, waitsForNoRowLock: true });
}

/** Declares a statement that adds rows to a table that assigns ids. The result is the `id` of each row. */
export function insertion<P extends Parameters>() {
  return (
    buildRows: (query: QueryCreator<Tables>, rows: readonly P[]) => Compilable<{ id: bigint }>,
  ): Statement<P, { id: bigint }> => ({ build: (query, row) => buildRows(query, [row]), buildRows });
}

const workModules = new Set<string>();

/** The modules of all works defined so far. */
export function listWorkModules(): readonly string[] {
  return [...workModules];
}

/**
 * Declares a work. `module` is the `import.meta.url` of the module that exports it as `name`. The writing thread
 * imports that module, so importing it must have no other effect.
 */
export function defineWork<I, T>(
  module: string,
  name: string,
  body: (input: I) => Work<T>,
  isolation: Isolation = 'serializable',
): NamedWork<I, T> {
  workModules.add(module);
  return { module, name, isolation, body };
}

/** Runs one statement inside a work. */
export function* step<P extends Parameters, R>(
  target: Statement<P, R>,
  parameters: P,
): Generator<Step, readonly R[], readonly unknown[]> {
  const rows = yield { statement: target as unknown as Step['statement'], parameters };
  return rows as readonly R[];
}
