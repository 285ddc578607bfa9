import { compareSchema, listRunMigrations } from '../migrations/migrate.ts';
import { askContent, rehearsePromotion } from './content.ts';
import { type Facts, factsSql, type Query, type Requirement } from './facts.ts';

/** What a start and the doctor find, in order. After the first group with an unmet requirement, the list ends. */
interface Examined {
  readonly requirements: readonly Requirement[];
  /** The names of the migrations that ran, or null if a requirement of the server is not met. */
  readonly run: readonly string[] | null;
}

const isUnmet = ({ todo }: Requirement) => todo !== null;

/**
 * Asks a server for everything that the start of an instance with so many `connections` needs. Changes nothing. Only a
 * store of the newest schema is examined.
 */
export async function askRequirements(query: Query, connections: number): Promise<Examined> {
  const [facts] = (await query(factsSql)) as readonly Facts[];
  if (facts === undefined) throw new Error('it does not answer');
  const server = [
    checkEncoding(facts),
    checkCommits(facts),
    checkWriting(facts),
    checkConnections(facts, connections),
    checkRights(facts),
  ];
  if (server.some(isUnmet)) return { requirements: server, run: null };
  const run = await listRunMigrations(query);
  if (compareSchema(run) !== 'newest') return { requirements: server, run };
  const parts = checkParts(facts);
  if (isUnmet(parts)) return { requirements: [...server, parts], run };
  const content = await askContent(query);
  if (content.some(isUnmet)) return { requirements: [...server, parts, ...content], run };
  return { requirements: [...server, parts, ...content, await rehearsePromotion(query)], run };
}

/** Returns the migrations that ran. Throws Error of one line for the first requirement that is not met. */
export async function requireUsable(query: Query, connections: number): Promise<readonly string[]> {
  const { requirements, run } = await askRequirements(query, connections);
  for (const { is, todo } of requirements) if (todo !== null) throw new Error(`${is}: ${todo}`);
  return run ?? [];
}

function checkEncoding({ encoding }: Facts): Requirement {
  const todo = encoding === 'UTF8' ? null : "create the database with the encoding 'UTF8'";
  return { check: 'store', is: `its encoding is ${encoding}`, todo };
}

/** A crash must lose no commit: the response cache relies on it, too (`storeVersion`). */
function checkCommits({ commits }: Facts): Requirement {
  const todo = commits === 'off' ? 'set it to on, for this database, this user and the server' : null;
  return { check: 'commits', is: `synchronous_commit is ${commits}`, todo };
}

function checkWriting({ is_standby, is_read_only }: Facts): Requirement {
  const check = 'writing';
  if (is_standby)
    return { check, is: 'the server is a standby', todo: 'name the primary in DATABASE_URL, not a standby' };
  if (!is_read_only) return { check, is: 'the database can be written', todo: null };
  const todo = 'set default_transaction_read_only to off, for this database, this user and the server';
  return { check, is: 'transactions of this user are read-only', todo };
}

function checkConnections({ connection_limit, role, database }: Facts, connections: number): Requirement {
  const check = 'connections';
  if (connection_limit === null || connection_limit >= connections)
    return { check, is: 'the user may open the connections of an instance', todo: null };
  return {
    check,
    is: `the user ${role} may open ${connection_limit} connections to ${database}, and an instance takes up to ${connections}`,
    todo: `raise the connection limit of the user or the database, or set DATABASE_CONNECTIONS to ${connection_limit} or less`,
  };
}

function checkRights(facts: Facts): Requirement {
  const { role, schema, database, closed_tables, closed_sequences, closed_functions } = facts;
  if (!facts.has_tables && !facts.may_create) {
    const is = `the user ${role} sees no store, and may not create tables`;
    const todo = `for a new store, run "grant usage, create on schema ${schema} to ${role}"; for a present one, "grant usage on schema ${schema} to ${role}"`;
    return { check: 'rights', is, todo };
  }
  const rights: readonly (readonly [what: string, on: readonly string[], grant: string])[] = [
    [
      'SELECT, INSERT, UPDATE and DELETE on tables',
      closed_tables,
      `grant select, insert, update, delete on all tables in schema ${schema} to ${role}`,
    ],
    [
      'USAGE and UPDATE on sequences',
      closed_sequences,
      `grant usage, update on all sequences in schema ${schema} to ${role}`,
    ],
    [
      'TEMPORARY for imports on database',
      facts.may_use_temporary ? [] : [database],
      `grant temporary on database ${database} to ${role}`,
    ],
    [
      'EXECUTE on functions',
      closed_functions,
      `grant execute on function ${closed_functions.join(', ')} to ${role}`,
    ],
  ];
  const missing = rights.filter(([, on]) => on.length > 0);
  if (missing.length === 0)
    return { check: 'rights', is: `the user ${role} has all rights that the service needs`, todo: null };
  const named = missing.map(([what, on]) => `${what} (${listSome(on)})`).join(', ');
  const grants = missing.map(([, , grant]) => grant).join('; ');
  return { check: 'rights', is: `the user ${role} lacks ${named}`, todo: `run "${grants}"` };
}

function checkParts({ missing_parts, disabled }: Facts): Requirement {
  if (missing_parts.length > 0)
    return {
      check: 'parts',
      is: `the store lacks ${listSome(missing_parts)}`,
      todo: 'a restore has failed or was stopped: restore again, as docs/operations/backup-and-restore.md says',
    };
  if (disabled.length > 0) {
    const enable = disabled.map((table) => `alter table ${table} enable trigger all`).join('; ');
    return { check: 'parts', is: `triggers are disabled on ${disabled.join(', ')}`, todo: `run "${enable}"` };
  }
  return { check: 'parts', is: 'no table, index, foreign key or trigger is missing', todo: null };
}

const namedMax = 4;

function listSome(names: readonly string[]): string {
  const more = names.length - namedMax;
  return `${names.slice(0, namedMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
