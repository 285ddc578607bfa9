import { createHash } from 'node:crypto';
import { compileStatement, placeParameters } from '../compile.ts';
import type { Parameters, Statement, Value } from '../database.ts';

/**
 * A statement for PostgreSQL. Each connection prepares it under `name`. If `name` is empty, the server parses the
 * statement at each call.
 */
export interface PreparedText {
  readonly name: string;
  readonly text: string;
}

/** A statement and the values of its placeholders. */
export interface Call {
  readonly prepared: PreparedText;
  readonly values: readonly Value[];
}

type Compiled = PreparedText & { readonly names: readonly string[] };

const compiled = new WeakMap<object, Compiled>();

/** Returns a statement with the values of its parameters. A statement is compiled at its first use. */
export function toCall<P extends Parameters, R>(target: Statement<P, R>, parameters: P): Call {
  const prepared = compiled.get(target) ?? compile(target);
  return { prepared, values: placeParameters(prepared.names, parameters) };
}

/** Returns a statement without parameters. Its text is its name. */
export function toTextCall(text: string): Call {
  return { prepared: { name: text, text }, values: [] };
}

/** The name is a hash of the text, so that every instance uses the same name. Without a name, the plan is not kept. */
function compile<P extends Parameters, R>(target: Statement<P, R>): Compiled {
  const { sql: text, names } = compileStatement(target, 'postgres');
  const name = target.isPlannedEachTime ? '' : createHash('sha256').update(text).digest('base64url');
  const made = { name, text, names };
  compiled.set(target, made);
  return made;
}
