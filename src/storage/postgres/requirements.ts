/** A question that every start asks a PostgreSQL server before it uses the store on it, and its answer. */
export interface Requirement {
  readonly check: 'store' | 'commits' | 'writing';
  readonly is: string;
  /** What the operator should do, or null if the requirement is met. */
  readonly todo: string | null;
}

interface Answers {
  readonly encoding: string;
  readonly commits: string;
  readonly is_read_only: boolean;
  readonly has_tables: boolean;
  readonly may_create: boolean;
  /** Tables of the store that this user may not read and write, and sequences that it may not use. */
  readonly closed: readonly string[];
}

/**
 * The tables of the store have the owner and the schema of `key_bans`. Other programs may have tables beside them. The
 * list of privileges in one call of `has_table_privilege` would mean any of them, so each has its own call. A `case`
 * is evaluated in order, and `has_sequence_privilege` fails for anything but a sequence.
 */
const answersSql = `
  with anchor as (select relowner, relnamespace from pg_class where oid = to_regclass('key_bans')),
  ours as (select pg_class.oid, relname, relkind from pg_class join anchor using (relowner, relnamespace)
    where relname not like 'schema_migrations%')
  select current_setting('server_encoding') as encoding, current_setting('synchronous_commit') as commits,
    current_setting('transaction_read_only') = 'on' or pg_is_in_recovery() as is_read_only,
    exists (select from anchor) as has_tables,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
    array(select relname::text from ours where case relkind
      when 'r' then not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
        and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
      when 'S' then not has_sequence_privilege(oid, 'usage') end order by relname) as closed`;

/** Returns the requirements of a server, met or not. `ask` runs a query and returns its first row. */
export async function askRequirements(
  ask: (sql: string) => Promise<object | undefined>,
): Promise<readonly Requirement[]> {
  const answers = (await ask(answersSql)) as Answers | undefined;
  if (answers === undefined) throw new Error('it does not answer');
  const { encoding, commits } = answers;
  const isUtf8 = encoding === 'UTF8';
  return [
    {
      check: 'store',
      is: `its encoding is ${encoding}`,
      todo: isUtf8 ? null : "create the database with the encoding 'UTF8'",
    },
    // A crash must lose no commit: the response cache relies on it, too (`storeVersion`).
    {
      check: 'commits',
      is: `synchronous_commit is ${commits}`,
      todo: commits === 'off' ? 'set it to on, for this database, this user and the server' : null,
    },
    checkWriting(answers),
  ];
}

function checkWriting({ is_read_only, has_tables, may_create, closed }: Answers): Requirement {
  const problems = [
    [is_read_only, 'the server is read-only', 'name the primary in DATABASE_URL, not a standby'],
    [
      !has_tables && !may_create,
      'this user may not create tables',
      'grant create on schema public to this user',
    ],
    [
      closed.length > 0,
      `this user may not write to every table, or may not use the sequences: ${closed.join(', ')}`,
      'grant this user all privileges on all tables and sequences in schema public',
    ],
  ] as const;
  const [, is, todo] = problems.find(([isSo]) => isSo) ?? [true, 'the database can be written', null];
  return { check: 'writing', is, todo };
}

/** Throws Error of one line for the first requirement that is not met. */
export async function requireUsable(ask: (sql: string) => Promise<object | undefined>): Promise<void> {
  for (const { is, todo } of await askRequirements(ask)) if (todo !== null) throw new Error(`${is}: ${todo}`);
}
