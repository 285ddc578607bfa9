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

const compiled = new WeakMap<object, Compiled[]>();

/** Returns a statement with the values of one row of parameters. */
export function toCall<P extends Parameters, R>(target: Statement<P, R>, parameters: P): Call {
  const prepared = compile(target, 0);
  return { prepared, values: placeParameters(prepared.names, parameters) };
}

/** Returns an insert of 2 ** `power` rows, all or none. `rows` must have this length. */
export function toRowsCall<P extends Parameters, R>(
  target: Statement<P, R>,
  rows: readonly P[],
  power: number,
): Call {
  const prepared = compile(target, power);
  const values: Value[] = [];
  for (const row of rows) placeParameters(prepared.names, row, values);
  return { prepared, values };
}

/** Returns a statement that is not prepared. */
export function toTextCall(text: string): Call {
  return { prepared: { name: '', text }, values: [] };
}

function compile<P extends Parameters, R>(target: Statement<P, R>, power: number): Compiled {
  const powers = compiled.get(target) ?? [];
  if (powers.length === 0) compiled.set(target, powers);
  powers[power] ??= build(target, power);
  return powers[power];
}

/** The name is a hash of the text, so that every instance uses the same name. */
function build<P extends Parameters, R>(target: Statement<P, R>, power: number): Compiled {
  const rows = 2 ** power;
  const { sql, names } = compileStatement(target, 'postgres', rows);
  const text = rows === 1 ? sql : requireRows(sql, rows);
  return { name: createHash('sha256').update(text).digest('base64url'), text, names };
}

/**
 * Makes the insert fail (division by zero) if an operator's own trigger skips rows. The returned ids could not be
 * matched to the rows then.
 */
function requireRows(insertion: string, rows: number): string {
  return `with added as (${insertion})
    select id, ${rows} / cast(count(*) over () = ${rows} as integer) as whole from added`;
}
