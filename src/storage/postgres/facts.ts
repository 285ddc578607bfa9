import { parts, tables } from './parts.ts';

/** What one query tells of a server, of the rights of this user, and of the parts of the store. */
export interface Facts {
  readonly encoding: string;
  readonly commits: string;
  readonly is_standby: boolean;
  readonly is_read_only: boolean;
  readonly has_tables: boolean;
  readonly may_create: boolean;
  readonly may_use_temporary: boolean;
  /** How many connections this user may open, or null if only the server limits them. */
  readonly connection_limit: bigint | null;
  /** Names as SQL quotes them. */
  readonly role: string;
  readonly database: string;
  readonly schema: string;
  /** Tables that this user may not read and write, sequences that it may not move, functions that it may not call. */
  readonly closed_tables: readonly string[];
  readonly closed_sequences: readonly string[];
  readonly closed_functions: readonly string[];
  readonly missing_parts: readonly string[];
  /** Tables with a trigger that is disabled, also one of a foreign key. */
  readonly disabled: readonly string[];
}

const functions = [
  'pg_control_system()',
  'pg_current_wal_insert_lsn()',
  'pg_walfile_name(pg_lsn)',
  'read_timeline()',
];

const toArray = (names: readonly string[]) => `'{${names.map((name) => `"${name}"`).join(',')}}'::text[]`;

/**
 * The tables of the store are in the schema of `key_bans`. Other programs may have tables beside them. A list of
 * privileges in one call of `has_table_privilege` would mean any of them, so each has its own call.
 */
export const factsSql = `
  with anchor as (select relnamespace as place from pg_class where oid = to_regclass('key_bans')),
  ours as (select oid, relname::text as name from pg_class, anchor
    where relnamespace = place and relkind = 'r' and relname = any(${toArray(tables)})),
  sequences as (select pg_class.oid, relname::text as name from pg_class
    join pg_depend on objid = pg_class.oid and classid = 'pg_class'::regclass and deptype = 'i'
    join ours on refclassid = 'pg_class'::regclass and refobjid = ours.oid where relkind = 'S'),
  present as (
    select 'table ' || name as part from ours
    union all select 'index ' || relname from pg_index join pg_class on pg_class.oid = indexrelid, anchor
      where relnamespace = place and indisvalid
    union all select 'foreign key ' || conname from pg_constraint, anchor where connamespace = place and contype = 'f'
    union all select 'trigger ' || tgname || ' on ' || name from pg_trigger join ours on tgrelid = ours.oid)
  select current_setting('server_encoding') as encoding, current_setting('synchronous_commit') as commits,
    pg_is_in_recovery() as is_standby, current_setting('transaction_read_only') = 'on' as is_read_only,
    exists (select from anchor) as has_tables,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
    has_database_privilege(current_database(), 'temporary') as may_use_temporary,
    (select least(nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) from pg_roles, pg_database
      where rolname = current_user and datname = current_database() and not rolsuper) as connection_limit,
    quote_ident(current_user) as role, quote_ident(current_database()) as database,
    coalesce((select place::regnamespace::text from anchor), quote_ident(current_schema()), 'public') as schema,
    array(select name from ours where not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
      and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
      union all select relname from pg_class, anchor where relnamespace = place and relname = 'schema_migrations'
        and not has_table_privilege(oid, 'select') order by name) as closed_tables,
    array(select name from sequences where not (has_sequence_privilege(oid, 'usage')
      and has_sequence_privilege(oid, 'update')) order by name) as closed_sequences,
    array(select name from unnest(${toArray(functions)}) as name
      where not has_function_privilege(to_regprocedure(name), 'execute')) as closed_functions,
    array(select part from unnest(${toArray(listParts())}) as part
      where part not in (select part from present)) as missing_parts,
    array(select distinct name from pg_trigger join ours on tgrelid = ours.oid where tgenabled in ('D', 'R')) as disabled`;

function listParts(): string[] {
  const created = Object.entries(parts).flatMap(([kind, names]) => names.map((name) => `${kind} ${name}`));
  return [...tables.map((name) => `table ${name}`), ...created];
}

/** Something that the service needs from a PostgreSQL server, or from the store on it. */
export interface Requirement {
  readonly check:
    | 'store'
    | 'commits'
    | 'writing'
    | 'connections'
    | 'rights'
    | 'parts'
    | 'rows'
    | 'ids'
    | 'promotion';
  readonly is: string;
  /** What the operator should do, or null if the requirement is met. */
  readonly todo: string | null;
}

/** Runs SQL and returns the rows. */
export type Query = (sql: string) => Promise<readonly object[]>;
