import type { Compilable, QueryCreator, RawBuilder } from 'kysely';
import type { Tables } from './tables.ts';

/** A column value on any engine. Integers are bigints, because a number cannot represent every int64. */
export type Value = string | bigint | Uint8Array | null;

/** The parameter values of a statement, by name. */
export type Parameters = Readonly<Record<string, Value>>;

/** The first columns of an index, which may be expressions, with their values. */
export type Keyset = readonly (readonly [column: string | RawBuilder<unknown>, value: RawBuilder<unknown>])[];

interface KeysetPage {
  readonly where: RawBuilder<boolean>;
  readonly orderBy: RawBuilder<unknown>;
}

/** The SQL expressions that differ between engines. */
export interface Dialect {
  readonly engine: 'sqlite' | 'postgres';
  /** The store's clock in Unix milliseconds, read when the statement runs. */
  readonly nowMs: RawBuilder<bigint>;
  /** A text that changes with every commit that writes an event, and never comes again. Null where it is unknown. */
  readonly storeVersion: RawBuilder<string | null>;
  /** 1 if this server has taken over from another one and has not skipped the positions that may be lost, else 0. */
  readonly tookOver: RawBuilder<bigint>;
  /** Size of the store in bytes, on SQLite without its write-ahead log. */
  readonly storeBytes: RawBuilder<bigint>;
  least(one: RawBuilder<bigint>, other: RawBuilder<bigint>): RawBuilder<bigint>;
  /** Ends a select: locks its rows until the transaction ends. Empty on SQLite, which runs one transaction at a time. */
  readonly lockRows: RawBuilder<unknown>;
  /** Like `lockRows`, but leaves out the rows that another transaction has locked. */
  readonly lockFreeRows: RawBuilder<unknown>;
  /** Takes an advisory lock until the transaction ends: 1, or 0 if another transaction has the lock. */
  tryLock(lock: bigint): RawBuilder<bigint>;
  /** Waits for an advisory lock and keeps it until the transaction ends. The two numbers name the lock. */
  waitForLock(group: number, lock: number): RawBuilder<unknown>;
  /** True if a column has this text, in the form that PostgreSQL's partial indexes are declared with. */
  isExactly(column: string, text: string): RawBuilder<boolean>;
  /** A page, newest first, that reads only its rows of an index over `key` and `id`, whatever the statistics say. */
  keyset(key: Keyset, newestId: bigint): KeysetPage;
  /** Like `keyset`, but oldest first, with the rows after an id. */
  keysetAfter(key: Keyset, afterId: RawBuilder<unknown>): KeysetPage;
  /** True if a column has one of the int64 values of a parameter, a JSON array. Reads by the index of the column. */
  isAmong(column: string, json: string): RawBuilder<boolean>;
  /** The JSON object of a text column with null in place of one of its fields. */
  blankField(column: string, field: string): RawBuilder<string>;
  /** A text in lower case, compared by its bytes. SQLite knows only the letters of ASCII. */
  folded(text: RawBuilder<string>): RawBuilder<string>;
  /** A subquery that returns the strings of a parameter, which is a JSON array. */
  listTexts(json: string): RawBuilder<string>;
}

/** Connections that work on a call, idle ones, and calls that wait for one. */
export interface ConnectionCounts {
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

/** An SQL statement with named parameters. It is compiled once per engine. */
export interface Statement<P extends Parameters, R> {
  readonly build: (query: QueryCreator<Tables>, parameters: P, dialect: Dialect) => Compilable<R>;
  /** True if PostgreSQL plans the statement at each call, because the size of its tables changes too much. */
  readonly isPlannedEachTime?: true;
}

/** The type of the rows of a statement. */
export type RowOf<S> = S extends Statement<never, infer Row> ? Row : never;

/** One statement of a transaction, with its parameters. `R` is the type of its rows. */
export interface Step<R = unknown> {
  readonly statement: Statement<Parameters, R>;
  readonly parameters: Parameters;
  /** True if the transaction ends with this step (`toLastStep`). */
  readonly isLast?: true;
}

/** A running transaction body. It yields steps that are sent together, and receives the rows of each. */
export type Steps<T> = Generator<readonly Step[], T, readonly (readonly unknown[])[]>;

/**
 * The isolation of transactions on PostgreSQL. SQLite runs them one after the other.
 * - `serializable`: as if they ran one after the other. A transaction that conflicts with another is repeated.
 * - `row locks`: each step sees everything committed before it, and changed rows stay locked. Such a transaction must
 *   decide only by conditional writes. It does not wait for transactions on other rows.
 * - `new rows`: `row locks`, for transactions that hardly ever wait for a row. Over PostgreSQL, those that come together
 *   are one transaction (group commit).
 */
export type Isolation = 'serializable' | 'row locks' | 'new rows';

/**
 * A transaction that any thread can run. Input and result must be cloneable (structured clone). The body may run more
 * than once, so it takes time and random values only from the input.
 */
export interface Transaction<I, T, Name extends string = string> {
  readonly name: Name;
  readonly isolation: Isolation;
  readonly body: (input: I) => Steps<T>;
}

/** Transactions by name. */
export type TransactionList = Readonly<Record<string, Transaction<never, unknown>>>;

/** The transactions that a database can run, by name. `src/transactions.ts` lists those of the service. */
// biome-ignore lint/suspicious/noEmptyInterface: the lists of transactions extend it
export interface Transactions {}

/** How `Database.load` checks and writes its rows, which are in the table `loaded` of its connection. */
export interface LoadOptions {
  /** Runs after the last row is read. Other writes wait for nothing that it does, so it may only write to `loaded`. */
  readonly check: () => Steps<void>;
  /**
   * The transaction that changes existing rows by those of `loaded`, before new rows are added. Null: nothing is written.
   * It decides again what the check could only expect. May run again after a deadlock, so it locks all rows that it needs
   * before it has a side effect.
   */
  readonly apply: (() => Steps<void>) | null;
}

/**
 * The interface to the databases. Every method throws AppError `unavailable` if the database is closed or cannot execute
 * the call now. Then the call had no effect, unless the connection was lost during a commit. A constraint violation or an
 * invalid statement throws the engine's own error.
 */
export interface Database {
  readonly engine: 'sqlite' | 'postgres';

  /** Returns the rows of one statement, which sees everything committed before the call. */
  read<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]>;

  /**
   * Like `read`, for a read that may take long, such as a report for an operator, and holds up no other call. Such reads
   * run one after the other: on SQLite on a thread of their own, on PostgreSQL on one connection.
   */
  readAside<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]>;

  countConnections(): ConnectionCounts;

  /** Like `read`, but synchronous. Null on PostgreSQL, where a read takes a round trip. */
  readonly readNow:
    | (<P extends Parameters, R>(statement: Statement<P, R>, parameters: P) => readonly R[])
    | null;

  /** Runs one writing statement. Resolves when the write is durable. */
  run<P extends Parameters, R>(statement: Statement<P, R>, parameters: P): Promise<readonly R[]>;

  /**
   * Runs a transaction completely or not at all. Resolves when it is durable, with all commits that it has read. So a
   * result that reports an earlier change is as safe as the change, and so is a refusal that the body throws. Errors of
   * errors.ts keep their class, code and message. Any other error becomes an Error with the same message.
   *
   * `accountId` is the account on whose behalf it runs, absent for an operator or a job. Over PostgreSQL, the waiting
   * transactions of an account hold few connections.
   */
  transact<I, T, Name extends keyof Transactions>(
    transaction: Transaction<I, T, Name>,
    input: I,
    accountId?: bigint,
  ): Promise<T>;

  /**
   * Changes and adds rows of a table, all or none. Reads and checks the whole source before it writes. A row has the
   * values of `columns`, the id of the row that it changes or null, and its line number. In the table `loaded`, it also
   * has a `problem`, which is null at first. New rows are added in their order. Throws OutcomeUnknownError if the
   * connection is lost during the write.
   */
  load(
    table: keyof Tables,
    columns: readonly string[],
    batches: AsyncIterable<readonly (readonly Value[])[]>,
    options: LoadOptions,
  ): Promise<void>;

  /** Waits for all pending calls except loads, then closes the database. A second call does nothing. */
  close(): Promise<void>;
}

/** Returns the same database, but all its reads are aside. */
export function readsAside(database: Database): Database {
  return { ...database, read: database.readAside, readNow: null };
}

/** Declares a statement. `P` is the type of its parameters. */
export function statement<P extends Parameters>(traits: Omit<Statement<P, unknown>, 'build'> = {}) {
  return <R>(build: Statement<P, R>['build']): Statement<P, R> => ({ build, ...traits });
}

/** Returns a function that builds the statement of each shape once. The values of a shape are few. */
export function byShape<Shape extends Readonly<Record<string, string | boolean | null>>, S>(
  build: (shape: Shape) => S,
): (shape: Shape) => S {
  const built = new Map<string, S>();
  return (shape) => {
    const name = Object.values(shape).join();
    const known = built.get(name) ?? build(shape);
    built.set(name, known);
    return known;
  };
}

/** Which filters are set, and the values of those that stand in the text of the statement. */
type Chosen<P, Literal extends keyof P> = Pick<P, Literal> & { readonly isSet: (name: keyof P) => boolean };

/**
 * Declares a statement for each combination of filters, which are some of its parameters. A null filter is absent. Each
 * value of `literals`, of which there are few, has a statement of its own.
 */
export function byFilters<P extends Parameters, Literal extends keyof P = never>(...literals: Literal[]) {
  type Build<R> = (...of: [QueryCreator<Tables>, P, Chosen<P, Literal>, Dialect]) => Compilable<R>;
  return <R>(build: Build<R>) => {
    const built = new Map<string, Statement<P, R>>();
    return (filter: Partial<P>): Statement<P, R> => {
      const values = literals.map((name) => filter[name] ?? null);
      const names = Object.keys(filter).filter((name) => (filter[name] ?? null) !== null);
      const shape = [...names, values].join();
      const known = built.get(shape);
      if (known !== undefined) return known;
      const isSet = (name: string) => names.includes(name);
      const chosen = { isSet, ...Object.fromEntries(literals.map((name, at) => [name, values[at]])) };
      const made: Statement<P, R> = {
        build: (query, p, dialect) => build(query, p, chosen as Chosen<P, Literal>, dialect),
      };
      built.set(shape, made);
      return made;
    };
  };
}
