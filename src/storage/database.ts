import type { Compilable, QueryCreator, RawBuilder } from 'kysely';
import type { Soon } from '../soon.ts';
import type { Tables } from './tables.ts';

/** What a column may hold on every engine. Integers of the store are bigints, so that none loses a digit. */
export type Value = string | bigint | Uint8Array | null;

/** The named values that a statement is run with. */
export type Parameters = Readonly<Record<string, Value>>;

/** What an engine writes in its own way. */
export interface Dialect {
  readonly engine: 'sqlite' | 'postgres';
  /** The store's clock, in Unix milliseconds: on PostgreSQL that of its server, read as the statement runs. */
  readonly nowMs: RawBuilder<bigint>;
  /** The int64 of a parameter that is a JSON array of integers, as a subquery: `id in (…)`. */
  listIntegers(json: string): RawBuilder<bigint>;
  /** The same of texts. */
  listTexts(json: string): RawBuilder<string>;
}

/** One statement of SQL: built for each engine once, prepared once, run with named parameters. */
export interface Statement<P extends Parameters, R> {
  readonly build: (query: QueryCreator<Tables>, parameters: P, dialect: Dialect) => Compilable<R>;
  /** Of one that adds a row and gives its `id`: builds it for several rows at once. */
  readonly buildRows?: (query: QueryCreator<Tables>, rows: readonly P[]) => Compilable<R>;
}

/** One step of a transaction: a statement with the values it is to run with. */
export interface Step {
  readonly statement: Statement<Parameters, unknown>;
  readonly parameters: Parameters;
}

/** The body of a transaction, running: it yields steps and gets their rows back. A step that fails ends it. */
export type Work<T> = Generator<Step, T, readonly unknown[]>;

/**
 * How works that run at once on PostgreSQL see each other; on SQLite they run one after the other. `serializable`: as if
 * they did there, too; one that conflicts is begun again. `row locks`: each step sees all that was committed before it, and
 * the rows that it changes are kept from others until the end. Such a work decides by conditional writes alone, and none
 * that touches other rows makes it wait.
 */
export type Isolation = 'serializable' | 'row locks';

/**
 * A transaction as a program that any thread can run: its body, and the module that exports it under this name. Input
 * and result are values that the structured clone algorithm copies. Time and random values are part of the input.
 */
export interface NamedWork<I, T> {
  readonly module: string;
  readonly name: string;
  readonly isolation: Isolation;
  readonly body: (input: I) => Work<T>;
}

/** How rows are loaded. */
export interface LoadOptions {
  /** Is told when the reading has ended and the writing begins. */
  readonly onWrite?: (() => void) | undefined;
  /** Rows may also change others: each has two more values, the id of the row that it changes, or null, and its line. */
  readonly changes?:
    | {
        /** Runs before rows are added, in the same transaction. All that were read stand in the table `loaded`. */
        readonly apply: () => Work<void>;
        /** Undoes everything in the end, and gives how many rows would have been added. */
        readonly isDryRun: boolean;
      }
    | undefined;
}

/**
 * The seam to the databases. Every method fails with AppError `unavailable` where the database cannot do its part
 * just now, or has been closed, with nothing of it done; only where a connection is lost in the midst of a commit is
 * it all or nothing, and not known which. A constraint that is broken (see constraint.ts), or a mistake in a
 * statement, fails with the engine's own error.
 */
export interface Database {
  readonly engine: 'sqlite' | 'postgres';

  /**
   * The rows of one statement, outside any transaction; sees all that was committed before the call. An engine that lives in this
   * process reads within the call.
   */
  read<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Soon<readonly R[]>;

  /** The same for what takes hardly any time, which nobody measures; null where a read is a round trip. */
  readonly readNow:
    | (<P extends Parameters, R>(statement: Statement<P, R>, parameters: P) => readonly R[])
    | null;

  /** Runs one writing statement by itself; settles when it is durable. */
  run<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]>;

  /**
   * Runs all of a work or nothing of it, as its isolation says; settles when it is durable. The body may
   * run more than once and on another thread, so it acts on nothing but the database. An error of errors.ts that it
   * throws arrives with its class, code and message, any other as an Error with its message.
   */
  transact<I, T>(work: NamedWork<I, T>, input: I): Promise<T>;

  /**
   * Adds rows to a table, all or none, in the order in which they come, and gives their number. The source is read to
   * its end before the table is touched; an error that it throws leaves the table as it was. Throws OutcomeUnknownError if a
   * connection is lost meanwhile.
   */
  load(
    table: keyof Tables,
    columns: readonly string[],
    batches: AsyncIterable<readonly (readonly Value[])[]>,
    options?: LoadOptions,
  ): Promise<number>;

  /**
   * From now on calls `onChange` for each account whose plan or keys have been changed or taken away, by whomever, soon
   * after the commit; with null where changes of any may have been missed. While the way to the database is broken
   * nothing is told: nobody may rely on it alone. Null where the engine has no such notices.
   */
  readonly watchAccounts: ((onChange: (accountId: bigint | null) => void) => void) | null;

  /** Waits for what was handed over, loads excepted, then lets go of the database. Closing it again does nothing. */
  close(): Promise<void>;
}

/** Declares a statement; `P` names its parameters, the row type follows from the query. */
export function statement<P extends Parameters>() {
  return <R>(build: Statement<P, R>['build']): Statement<P, R> => ({ build });
}

/** Declares the adding of rows to a table that numbers them, with the `id` of each as the result. */
export function insertion<P extends Parameters>() {
  return (
    buildRows: (query: QueryCreator<Tables>, rows: readonly P[]) => Compilable<{ id: bigint }>,
  ): Statement<P, { id: bigint }> => ({ build: (query, row) => buildRows(query, [row]), buildRows });
}

const workModules = new Set<string>();

/** The modules of every work that was defined so far. */
export function listWorkModules(): readonly string[] {
  return [...workModules];
}

/**
 * Declares a work. `module` is the `import.meta.url` of the module that exports it as `name`; it runs a transaction's
 * body on another thread, so importing it must do nothing else.
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
