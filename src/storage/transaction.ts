import type { Isolation, Parameters, Statement, Step, Steps, Transaction } from './database.ts';

const transactions = new Map<string, Transaction<never, unknown>>();

/**
 * Declares a transaction. Its name, by default that of the body, finds it in the writing thread, so
 * `src/writing-thread.ts` must import its module. Throws Error without a name, or if it is taken.
 */
export function transaction<I, T>(
  body: (input: I) => Steps<T>,
  isolation: Isolation = 'serializable',
  name = body.name,
): Transaction<I, T> {
  if (name === '') throw new Error('a transaction needs a name');
  if (transactions.has(name)) throw new Error(`two transactions have the name "${name}"`);
  const declared = { name, isolation, body };
  transactions.set(name, declared);
  return declared;
}

/** Returns the transaction with a name. Throws Error if this thread has not imported its module. */
export function findTransaction(name: string): Transaction<never, unknown> {
  const found = transactions.get(name);
  if (found === undefined) throw new Error(`this thread has no transaction "${name}"`);
  return found;
}

/** Names a statement and its parameters as one step. */
export function toStep<P extends Parameters, R>(target: Statement<P, R>, parameters: P): Step<R> {
  return { statement: target as unknown as Step<R>['statement'], parameters };
}

/** Names the last statement of a transaction, which changes a row. PostgreSQL commits with it. The body then only returns. */
export function toLastStep<P extends Parameters, R>(target: Statement<P, R>, parameters: P): Step<R> {
  return { ...toStep(target, parameters), isLast: true };
}

/** Runs one statement inside a transaction body: `const rows = yield* step(…)`. */
export function* step<P extends Parameters, R>(target: Statement<P, R>, parameters: P): Steps<readonly R[]> {
  const [rows = []] = yield [toStep(target, parameters)];
  return rows as readonly R[];
}

/** Runs statements that do not need each other's rows, on PostgreSQL in one round trip. Returns the rows of each. */
export function* stepsTogether<All extends readonly unknown[]>(
  ...steps: { readonly [Place in keyof All]: Step<All[Place]> }
): Steps<{ readonly [Place in keyof All]: readonly All[Place][] }> {
  const rows = yield steps as unknown as readonly Step[];
  return rows as { readonly [Place in keyof All]: readonly All[Place][] };
}
