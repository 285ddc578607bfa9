import type { Isolation, Parameters, Statement, Step, Steps, Transaction } from './database.ts';

/** Declares a transaction, which `src/transactions.ts` then lists under its name. */
export function transaction<Name extends string, I, T>(
  name: Name,
  isolation: Isolation,
  body: (input: I) => Steps<T>,
): Transaction<I, T, Name> {
  return { name, isolation, body };
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
