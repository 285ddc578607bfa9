import type { Client, ClientBase } from 'pg';
import { reasonOf } from '../../errors.ts';
import { type PostgresHost, parsePostgresHosts, readPostgresParameters } from '../../postgres-address.ts';
import { createClient, readConnectMs } from './client.ts';

/** What a server says of itself that is no standby. */
interface Primary {
  /** The identifier of the database cluster. A primary and its standbys have the same. */
  readonly system: string;
  /** Each promotion begins a new timeline, whose text is greater. */
  readonly timeline: string;
  readonly isReadOnly: boolean;
}

type Found = Primary & { readonly url: string };

/** Time in ms in which a host must answer, unless the address sets another one, and after which the hosts are asked again if none takes writes. */
const answerMsMax = 1_000;
const askEveryMs = 200;

const serverSql = `
  select (select system_identifier::text from pg_control_system()) as system,
    case when pg_is_in_recovery() then '' else left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) end as timeline,
    current_setting('transaction_read_only') = 'on' as "isReadOnly"`;

/** The server that is used, of those that an address names. */
export type ServerChoice = ReturnType<typeof createServerChoice>;

/**
 * Creates a choice among the hosts of an address. Calls `endConnections` when the address leads to another server or to
 * a newer timeline than before. An older connection could read what a former primary has.
 */
export function createServerChoice(url: string, endConnections: () => void) {
  const isOne = isOneServer(url);
  let chosen = parsePostgresHosts(url)[0]?.url ?? url;
  let isLost = !isOne;
  let known: Primary | null = null;
  let asking: Promise<void> | null = null;

  function note(primary: Primary): void {
    const isOther = primary.system !== known?.system || primary.timeline !== known.timeline;
    if (known !== null && isOther) endConnections();
    known = primary;
  }

  async function ask(): Promise<void> {
    const found = await askHosts(url, known, readConnectMs(url, answerMsMax));
    note(found);
    chosen = found.url;
    isLost = false;
  }

  /** Asks in any case, but does not run twice at once. */
  function look(): Promise<void> {
    asking ??= ask().finally(() => {
      const forget = () => {
        asking = null;
      };
      setTimeout(forget, isLost ? askEveryMs : 0).unref();
    });
    return asking;
  }

  return {
    /** Returns the address for a new connection: the server found last. */
    readUrl: () => chosen,
    /** Returns true after `leave`, until a host is found that takes writes. */
    isLost: () => isLost,
    /** Asks the hosts of the address which one takes writes, if that is unknown. Throws Error if there is none. */
    async find(): Promise<void> {
      if (isLost) await look();
    },
    look,
    /** Reports that the server is lost or takes no writes. `find` then asks again. */
    leave(): void {
      isLost = !isOne;
    },
    /** Checks a new connection. Throws Error if its server must be neither read nor written. */
    async admit(client: ClientBase): Promise<void> {
      note(await requirePrimary(client, known));
    },
  };
}

/** Returns the address of the host that takes writes. Throws Error of one line that has what each host said. */
export async function findPrimary(url: string): Promise<string> {
  return isOneServer(url) ? url : (await askHosts(url, null, readConnectMs(url))).url;
}

/** Opens a connection to the host that takes writes. Throws Error of one line, or that of the driver. */
export async function connectToPrimary(url: string): Promise<Client & AsyncDisposable> {
  const client = createClient(await findPrimary(url));
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** Returns true if an address leads to one server, and says whether that server uses TLS. */
function isOneServer(url: string): boolean {
  return parsePostgresHosts(url).length === 1 && readPostgresParameters(url).get('sslmode') !== 'prefer';
}

/**
 * Asks all hosts of an address at once. Returns the one that takes writes; if there are several, the one on the newest
 * timeline. If one is on a newer timeline than `known`, its answer suffices, so that a lost host delays no failover.
 */
async function askHosts(url: string, known: Primary | null, waitMsMax: number): Promise<Found> {
  const answers = parsePostgresHosts(url).map((host) => askHost(host, known, waitMsMax));
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
  const reasons = settled.flatMap((answer) => ('reason' in answer ? [reasonOf(answer.reason)] : []));
  throw new Error(`none of its hosts takes writes: ${reasons.join('; ')}`);
}

async function askHost(
  { name, url }: PostgresHost,
  known: Primary | null,
  waitMsMax: number,
): Promise<Found> {
  try {
    const found = await askAt(url, known, waitMsMax);
    if (found.isReadOnly) throw new Error('it is read-only');
    return found;
  } catch (error) {
    throw new Error(`${name}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Tries TLS first if the address says `sslmode=prefer`, and returns the address that says what the server uses. */
async function askAt(url: string, known: Primary | null, waitMsMax: number): Promise<Found> {
  const isOpen = readPostgresParameters(url).get('sslmode') === 'prefer';
  const tried = isOpen ? url.replace('sslmode=prefer', 'sslmode=require') : url;
  const client = createClient(tried, { connectionTimeoutMillis: waitMsMax, query_timeout: waitMsMax });
  try {
    await client.connect();
    return { ...(await requirePrimary(client, known)), url: tried };
  } catch (error) {
    if (!isOpen || !/does not support SSL/.test(reasonOf(error))) throw error;
    return await askAt(url.replace('sslmode=prefer', 'sslmode=disable'), known, waitMsMax);
  } finally {
    // A server that does not answer must not delay the caller.
    void client.end();
  }
}

/** Asks the server of a connection what it is. Throws Error if it is a standby, or on an older timeline than `known`. */
async function requirePrimary(client: ClientBase, known: Primary | null): Promise<Primary> {
  const [found] = (await client.query<Primary>(serverSql)).rows;
  if (found === undefined) throw new Error('it does not answer');
  if (found.timeline === '') throw new Error('it is a standby');
  if (found.system === known?.system && found.timeline < known.timeline)
    throw new Error('it is a former primary');
  return found;
}
