import {
  DummyDriver,
  Kysely,
  type LimitNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql as sqlText,
  ValueNode,
} from 'kysely';
import type { Dialect, Parameters, Statement, Value } from './database.ts';
import type { Tables } from './tables.ts';

/** A statement compiled for one engine: its text, and the parameter name of each placeholder. */
export interface CompiledStatement {
  readonly sql: string;
  readonly names: readonly string[];
}

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * SQLite plans by the number in a limit. If that is a bare parameter, SQLite prepares the whole statement again at
 * each binding, a third of the cost of a page. It does not look into an expression.
 */
class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    super.visitLimit(node);
    if (ValueNode.is(node.limit)) this.append(' + 0');
  }
}

const builders = {
  sqlite: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteCompiler(),
    },
  }),
  postgres: new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  }),
};

const dialects: Readonly<Record<Dialect['engine'], Dialect>> = {
  sqlite: {
    engine: 'sqlite',
    nowMs: sqlText`cast(round(unixepoch('subsec') * 1000) as integer)`,
    listIntegers: (json) => sqlText`(select value from json_each(${json}))`,
    listTexts: (json) => sqlText`(select value from json_each(${json}))`,
  },
  postgres: {
    engine: 'postgres',
    nowMs: sqlText`cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)`,
    listIntegers: (json) =>
      sqlText`(select cast(value as bigint) from json_array_elements_text(cast(${json} as json)))`,
    listTexts: (json) => sqlText`(select value from json_array_elements_text(cast(${json} as json)))`,
  },
};

const placeholders = new Proxy({}, { get: (_, name) => new Placeholder(String(name)) });

/**
 * Compiles a statement for an engine. A statement that adds rows is compiled for `rows` rows at once; `names` are
 * those of one row. Throws TypeError for a value that is not a named parameter.
 */
export function compileStatement<P extends Parameters, R>(
  { build, buildRows }: Statement<P, R>,
  engine: Dialect['engine'],
  rows = 1,
): CompiledStatement {
  const built =
    rows === 1 || buildRows === undefined
      ? build(builders[engine], placeholders as P, dialects[engine])
      : buildRows(builders[engine], Array<P>(rows).fill(placeholders as P));
  const { sql, parameters } = built.compile();
  const names = parameters.map((parameter) => {
    if (parameter instanceof Placeholder) return parameter.name;
    throw new TypeError(`a statement has a value that is not a named parameter: ${sql}`);
  });
  const ofOneRow = names.slice(0, names.length / rows);
  if (names.some((name, index) => name !== ofOneRow[index % ofOneRow.length]))
    throw new TypeError(`a statement that adds rows has a parameter outside of them: ${sql}`);
  return { sql, names: ofOneRow };
}

/**
 * Appends the values of the parameters to `values` in the order of their placeholders. Throws TypeError for a missing
 * one.
 */
export function placeParameters(
  names: readonly string[],
  parameters: Parameters,
  values: Value[] = [],
): Value[] {
  for (const name of names) {
    const value = parameters[name];
    if (value === undefined) throw new TypeError(`the parameter ${name} is not given`);
    values.push(value);
  }
  return values;
}
