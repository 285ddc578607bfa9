import type { ClientBase } from 'pg';
import { reasonOf } from '../../errors.ts';
import { type PostgresHost, parsePostgresHosts, readPostgresParameters } from '../../postgres-address.ts';
import { connectMsMax, createClient } from './client.ts';

/** What a server says of itself. */
export interface Server {
  /** The identifier of the database cluster. A primary and its standbys have the same. */
  readonly system: string;
  /** The timeline of a primary. Each promotion begins a new one, whose text is greater. Null on a standby. */
  readonly timeline: string | null;
  readonly isReadOnly: boolean;
}

/** A server that is no standby. */
export type Primary = Server & { readonly timeline: string };

const serverSql = `
  select (select system_identifier::text from pg_control_system()) as system,
    case when not pg_is_in_recovery() then left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) end as timeline,
    current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/** Asks the server of a connection what it is. Throws Error if it is a standby, or on an older timeline than `known`. */
export async function requirePrimary(client: ClientBase, known: Primary | null): Promise<Primary> {
  const { rows } = await client.query<Server>(serverSql);
  const [{ system, timeline = null, isReadOnly } = {}] = rows;
  if (system === undefined || isReadOnly === undefined) throw new Error('it does not answer');
  if (timeline === null) throw new Error('it is a standby');
  if (system === known?.system && timeline < known.timeline) throw new Error('it is a former primary');
  return { system, timeline, isReadOnly };
}

/** Returns true if an address leads to one server, and says whether that server uses TLS. */
export function isOneServer(url: string): boolean {
  return parsePostgresHosts(url).length === 1 && readPostgresParameters(url).get('sslmode') !== 'prefer';
}

/** Returns the address of the host that takes writes. Throws Error of one line that has what each host said. */
export async function findPrimary(url: string): Promise<string> {
  return isOneServer(url) ? url : (await askHosts(url, null, connectMsMax)).url;
}

interface Found extends Primary {
  readonly url: string;
}

/**
 * Asks all hosts of an address at once. Returns the one that takes writes; if there are several, the one on the newest
 * timeline. If one is on a newer timeline than `known`, its answer suffices, so that a lost host delays no failover.
 */
export async function askHosts(url: string, known: Primary | null, answerMsMax: number): Promise<Found> {
  const answers = parsePostgresHosts(url).map((host) => askHost(host, known, answerMsMax));
  const newer = answers.map(async (answer) => {
    const found = await answer;
    if (known === null || found.timeline === known.timeline) throw new Error('it is not newer');
    return found;
  });
  return Promise.any([...newer, chooseNewest(answers)]).catch(({ errors }: AggregateError) => {
    throw errors.at(-1);
  });
}

async function chooseNewest(answers: readonly Promise<Found>[]): Promise<Found> {
  const settled = await Promise.allSettled(answers);
  const found = settled.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  const [newest] = found.toSorted((a, b) => (a.timeline < b.timeline ? 1 : -1));
  if (newest !== undefined) return newest;
  const reasons = settled.flatMap((answer) =>
    answer.status === 'rejected' ? [reasonOf(answer.reason)] : [],
  );
  throw new Error(`none of its hosts takes writes: ${reasons.join('; ')}`);
}

async function askHost(
  { name, url }: PostgresHost,
  known: Primary | null,
  answerMsMax: number,
): Promise<Found> {
  try {
    const found = await askAt(url, known, answerMsMax);
    if (found.isReadOnly) throw new Error('it is read-only');
    return found;
  } catch (error) {
    throw new Error(`${name}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Tries TLS first if the address says `sslmode=prefer`, and returns the address that says what the server uses. */
async function askAt(url: string, known: Primary | null, answerMsMax: number): Promise<Found> {
  const isOpen = readPostgresParameters(url).get('sslmode') === 'prefer';
  const tried = isOpen ? url.replace('sslmode=prefer', 'sslmode=require') : url;
  const client = createClient(tried, { connectionTimeoutMillis: answerMsMax, query_timeout: answerMsMax });
  try {
    await client.connect();
    return { ...(await requirePrimary(client, known)), url: tried };
  } catch (error) {
    if (!isOpen || !/does not support SSL/.test(reasonOf(error))) throw error;
    return await askAt(url.replace('sslmode=prefer', 'sslmode=disable'), known, answerMsMax);
  } finally {
    // A server that does not answer must not delay the caller.
    void client.end();
  }
}
