import { hash } from 'node:crypto';
import { Kysely, type LimitNode, PostgresDialect, SqliteDialect, SqliteQueryCompiler } from 'kysely';
import type { Parameters, Statement, Value } from './database.ts';
import { dialects, type Engine } from './dialect.ts';
import type { Tables } from './tables.ts';

interface CompiledStatement {
  readonly sql: string;
  /** The name under which PostgreSQL prepares the statement, a hash of its text. Empty if it is planned at each call. */
  readonly name: string;
  /** The parameter names of the placeholders, in order. */
  readonly names: readonly string[];
  /** False for a plain select, which may lock rows. */
  readonly isWriting: boolean;
}

/** Stands for the value of a parameter while its statement is built. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** With a bare parameter as the limit, SQLite prepares a page again at each binding, which takes a third of its time. */
class LimitCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node);
    this.append(' + 0');
  }
}

class CompilingDialect extends SqliteDialect {
  override createQueryCompiler() {
    return new LimitCompiler();
  }
}

const openNothing = () => Promise.reject(new Error('statements are only compiled here'));

const builders = {
  sqlite: new Kysely<Tables>({ dialect: new CompilingDialect({ database: openNothing }) }),
  postgres: new Kysely<Tables>({ dialect: new PostgresDialect({ pool: openNothing }) }),
};

/** The compiled statements, and those with filters by the filters that are set. */
const createCache = () => ({
  plain: new WeakMap<object, CompiledStatement>(),
  shaped: new WeakMap<object, Map<string, CompiledStatement>>(),
});

const compiled = { sqlite: createCache(), postgres: createCache() };

/**
 * Returns a statement compiled for an engine and for the filters that are set. Throws TypeError if it has a value that is no
 * named parameter.
 */
export function compileStatement<P extends Parameters, R>(
  target: Statement<P, R>,
  engine: Engine,
  parameters: P,
): CompiledStatement {
  const { plain, shaped } = compiled[engine];
  const { filters } = target;
  if (filters === undefined)
    return plain.get(target) ?? keep(plain, target, compile(target, engine, parameters));
  const shapes = shaped.get(target) ?? keep(shaped, target, new Map<string, CompiledStatement>());
  const shape = findShape(filters, parameters);
  return shapes.get(shape) ?? keep(shapes, shape, compile(target, engine, parameters));
}

function keep<K, V>(cache: { set(key: K, value: V): unknown }, key: K, value: V): V {
  cache.set(key, value);
  return value;
}

function isSet(parameters: Parameters, filter: string): boolean {
  return (parameters[filter] ?? null) !== null;
}

/** Names a combination of filters that are set. */
function findShape(filters: readonly string[], parameters: Parameters): string {
  let shape = '';
  for (const filter of filters) shape += isSet(parameters, filter) ? '+' : '-';
  return shape;
}

function compile<P extends Parameters, R>(
  { build, filters = [], isPlannedEachTime }: Statement<P, R>,
  engine: Engine,
  parameters: P,
): CompiledStatement {
  const placeholders = Object.fromEntries(
    Object.keys(parameters).map((name) => [name, new Placeholder(name)]),
  ) as unknown as P;
  const set = Object.fromEntries(filters.map((filter) => [filter, isSet(parameters, filter)]));
  const built = build(builders[engine], placeholders, dialects[engine], set).compile();
  const { query, sql } = built;
  const names = built.parameters.map((parameter) => {
    if (parameter instanceof Placeholder) return parameter.name;
    throw new TypeError(`a statement has a value that is not a named parameter: ${sql}`);
  });
  // A `with` may contain a statement that writes.
  const isWriting = query.kind !== 'SelectQueryNode' || query.with !== undefined;
  return { sql, name: isPlannedEachTime ? '' : hash('sha256', sql, 'base64url'), names, isWriting };
}

/** Returns the parameter values in the order of `names`. Throws TypeError if a parameter is missing. */
export function placeParameters(names: readonly string[], parameters: Parameters): Value[] {
  return names.map((name) => {
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`the parameter ${name} is missing`);
    return value;
  });
}

/** Returns a function that makes rows of one shape, which takes half as long as with the row objects of the drivers. */
export function createRowMaker<V>(columns: readonly string[], read: (value: V, place: number) => unknown) {
  const blank: Readonly<Record<string, unknown>> = Object.fromEntries(columns.map((name) => [name, null]));
  return (values: readonly V[]): Readonly<Record<string, unknown>> => {
    const row: Record<string, unknown> = { ...blank };
    for (let at = 0; at < columns.length; at += 1) row[columns[at] as string] = read(values[at] as V, at);
    return row;
  };
}
