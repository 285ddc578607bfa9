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

/** A statement as one engine takes it: its text, and which named parameter stands at each of its places. */
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
 * SQLite plans by the number in a limit: where that is a bare parameter, each binding has the whole statement prepared
 * anew, which is a third of what a page costs. An expression it does not look into.
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
 * Builds a statement's text for an engine; one that adds rows, for so many at once, and then `names` are those of one row.
 * Every value in it must be one of its named parameters.
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
    throw new TypeError(`a statement holds a value that is no named parameter: ${sql}`);
  });
  const ofOneRow = names.slice(0, names.length / rows);
  if (names.some((name, index) => name !== ofOneRow[index % ofOneRow.length]))
    throw new TypeError(`a statement that adds rows holds a parameter beside them: ${sql}`);
  return { sql, names: ofOneRow };
}

/** Puts the values of the parameters, each of which must be given, in the order of their places behind those there are. */
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
