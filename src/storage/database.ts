import type { Compilable, QueryCreator } from 'kysely';
import type { Dialect, Engine } from './dialect.ts';
import type { Tables } from './tables.ts';

/**
 * Statements, transactions, and the databases that run them. First a statement, whose `p` stands for its parameters:
 *
 *     const selectName = statement((query, p: { id: bigint }) =>
 *       query.selectFrom('pets').select('name').where('id', '=', p.id),
 *     );
 *
 * A page of a list with a filter. If the parameter `status` is null, `set.status` is false. `PageRange` (`read-page.ts`) has
 * two parameters: `newestId` is the `next` of the page before, and `count` is one row more than a page. The id of that row is
 * `next`, so the list selects `id`. A list that always has the value of a column needs `dialect.keyset` instead, so that both
 * engines read only the rows of the page:
 *
 *     const selectNewest = byFilters(['status'], (query, p: { status: string } & PageRange, set) =>
 *       query
 *         .selectFrom('pets')
 *         .select(['id', 'name'])
 *         .where('id', '<=', p.newestId)
 *         .$if(set.status, (pets) => pets.where('status', '=', p.status))
 *         .orderBy('id', 'desc')
 *         .limit(p.count),
 *     );
 *
 * A transaction of two steps, to be listed in `src/transactions.ts`. What it throws undoes it (`notFound` is in
 * `src/errors.ts`). `lockRows` keeps the row from others until it ends (`Dialect` has what else differs between the engines),
 * and the second step is its last one:
 *
 *     const lockName = statement((query, p: { id: bigint }, { lockRows }) =>
 *       query.selectFrom('pets').select('name').where('id', '=', p.id).modifyEnd(lockRows),
 *     );
 *     const updateName = statement((query, p: { id: bigint; name: string }) =>
 *       query.updateTable('pets').set({ name: p.name }).where('id', '=', p.id),
 *     );
 *     const renamePet = transaction('renamePet', 'row locks', function* (wanted: { id: bigint; name: string }) {
 *       const [pet] = yield* step(lockName, { id: wanted.id });
 *       if (pet === undefined) throw notFound('petId', 'animal');
 *       yield* lastStep(updateName, wanted);
 *       return pet.name;
 *     });
 *
 * How a database runs them:
 *
 *     const [pet] = await database.read(selectName, { id: 7n });
 *     const page = await readPage(database, selectNewest, { status: 'sold', limit: 5 }, ({ name }) => name);
 *     const nameBefore = await database.transact(renamePet, { id: 7n, name: 'Rex' });
 *
 * `insertRow` (`insert-row.ts`) declares an insert. A new table needs its columns in `tables.ts` and two migrations, as
 * `CONTRIBUTING.md` says. `test/contracts/worked-example.test.ts` runs this example.
 */

/** A column value on any engine. Integers are bigints, because a number cannot represent every int64. */
export type Value = string | bigint | Uint8Array | null;

/** The parameter values of a statement, by name. */
export type Parameters = Readonly<Record<string, Value>>;

/** An SQL statement with named parameters. It is compiled once per engine, and for each combination of `filters`. */
export interface Statement<P extends Parameters, R> {
  readonly build: (query: QueryCreator<Tables>, p: P, dialect: Dialect, set: AreSet) => Compilable<R>;
  /** The parameters of which a null is left out of the text (`byFilters`). */
  readonly filters?: readonly string[];
  /** True if PostgreSQL plans the statement at each call, because the size of its tables changes too much. */
  readonly isPlannedEachTime?: true;
}

/** For each filter, whether it is set. */
type AreSet<Filter extends string = string> = Readonly<Record<Filter, boolean>>;

/** The type of the rows of a statement. */
export type RowOf<S> = S extends Statement<never, infer Row> ? Row : never;

/** Declares a statement. In `build`, each parameter stands for its later value, so it can only become a part of the SQL. */
export function statement<P extends Parameters, R>(
  build: (query: QueryCreator<Tables>, p: P, dialect: Dialect) => Compilable<R>,
  traits: Pick<Statement<P, R>, 'isPlannedEachTime'> = {},
): Statement<P, R> {
  return { build, ...traits };
}

/**
 * Declares a statement for each combination of these parameters that are set. One that is null is not set, and neither is one
 * that a call of `readPage` leaves out. Then `build` must leave it out too. Unlike in `statement`, `build` gets `set` before
 * the dialect.
 */
export function byFilters<P extends Parameters, Filter extends keyof P & string, R>(
  filters: readonly Filter[],
  build: (query: QueryCreator<Tables>, p: P, set: AreSet<Filter>, dialect: Dialect) => Compilable<R>,
): Statement<{ readonly [Name in keyof P]: Name extends Filter ? P[Name] | null : P[Name] }, R> {
  return { filters, build: (query, p, dialect, set) => build(query, p as P, set, dialect) };
}

/** One statement of a transaction, with its parameters. `R` is the type of its rows. */
export interface Step<R = unknown> {
  readonly statement: Statement<Parameters, R>;
  readonly parameters: Parameters;
  /** True if the transaction ends with this step (`lastStep`). */
  readonly isLast: boolean;
  /** Runs it alone: `const rows = yield* step(…)`. */
  [Symbol.iterator](): Steps<readonly R[]>;
}

/** A running transaction body. It yields steps that are sent together, and receives the rows of each. */
export type Steps<T> = Generator<readonly Step[], T, readonly (readonly unknown[])[]>;

/** A step of a transaction. Run it with `yield*`, which returns its rows, or with others (`together`). */
export function step<P extends Parameters, R>(target: Statement<P, R>, parameters: P): Step<R> {
  return new RunnableStep(target, parameters, false);
}

/**
 * The last step of a transaction, which changes a row. It saves a round trip, because PostgreSQL commits with it. The body then
 * only returns: another step throws. Of the last steps that run together, one is enough.
 *
 * If it changes no row, nothing is lost, but the commit does not wait for a synchronous standby. So a result that reports an
 * earlier change needs `step`.
 */
export function lastStep<P extends Parameters, R>(target: Statement<P, R>, parameters: P): Step<R> {
  return new RunnableStep(target, parameters, true);
}

/** A class, because each request creates some, and an object with a method of its own takes longer. */
class RunnableStep<P extends Parameters, R> implements Step<R> {
  readonly statement: Step<R>['statement'];
  readonly parameters: Parameters;
  readonly isLast: boolean;

  constructor(target: Statement<P, R>, parameters: P, isLast: boolean) {
    this.statement = target as unknown as Step<R>['statement'];
    this.parameters = parameters;
    this.isLast = isLast;
  }

  *[Symbol.iterator](): Steps<readonly R[]> {
    const [rows = []] = yield [this];
    return rows as readonly R[];
  }
}

/** Runs steps that do not need each other's rows, on PostgreSQL in one round trip. Returns the rows of each. */
export function* together<All extends readonly unknown[]>(
  ...steps: { readonly [Place in keyof All]: Step<All[Place]> }
): Steps<{ readonly [Place in keyof All]: readonly All[Place][] }> {
  const rows = steps.length === 0 ? [] : yield steps as unknown as readonly Step[];
  return rows as { readonly [Place in keyof All]: readonly All[Place][] };
}

/**
 * The isolation of transactions on PostgreSQL. SQLite runs them one after the other.
 * - `serializable`: as if they ran one after the other. A transaction that conflicts with another is repeated.
 * - `row locks`: each step sees everything committed before it, and changed rows stay locked. Such a transaction must
 *   decide only by rows that it has locked, or by conditional writes. It does not wait for transactions on other rows.
 * - `new rows`: `row locks`, for transactions that hardly ever wait for a row. Over PostgreSQL, those that come together
 *   are one transaction (group commit, `postgres/call-queue.ts`). SQLite commits all kinds together (`sqlite/write-queue.ts`).
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
/* biome-ignore lint/suspicious/noEmptyInterface: the lists of transactions extend it */
export interface Transactions {}

/** Declares a transaction. It can run once it is listed under its name. */
export function transaction<Name extends string, I, T>(
  name: Name,
  isolation: Isolation,
  body: (input: I) => Steps<T>,
): Transaction<I, T, Name> {
  return { name, isolation, body };
}

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

/** Connections that work on a call, idle ones, and calls that wait for one. */
export interface ConnectionCounts {
  readonly busy: number;
  readonly idle: number;
  readonly waiting: number;
}

/**
 * The interface to the databases. Every method throws AppError `unavailable` if the database is closed or cannot execute
 * the call now. Then the call had no effect, unless the connection was lost during a commit. A constraint violation or an
 * invalid statement throws the engine's own error.
 */
export interface Database {
  readonly engine: Engine;

  /**
   * True if only one instance writes, as to a SQLite file. Then triggers update the feed and the inventory in the commit of
   * a change. On PostgreSQL they append to tables, from which a job of one of the instances does so.
   */
  readonly hasOneWriter: boolean;

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
