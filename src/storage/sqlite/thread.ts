/**
 * The writing thread of a store. It has the only connection of the process that writes, commits and makes
 * checkpoints.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { NamedWork } from '../database.ts';
import { type Call, type Outcome, runBatch } from './batch.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy } from './connection.ts';
import type { Reply, Request, SentCall, ThreadData } from './messages.ts';
import { packError } from './packed-error.ts';
import type { SqliteStatement } from './prepared.ts';

/**
 * How many pages the WAL grows before a checkpoint. A page that many commits changed is copied once. One block of
 * SQLite's WAL index still covers this size, so reads do not get slower.
 */
const checkpointPages = 4_000;

type Run = (input: unknown) => Extract<Call, { work: unknown }>['work'];

/** Finds the statements and works that calls refer to. */
function createFinder() {
  const statements: SqliteStatement[] = [];
  const works = new Map<string, Run>();

  async function importWork(module: string, name: string): Promise<Run> {
    const exports: Record<string, NamedWork<unknown, unknown> | undefined> = await import(module);
    // Imported late: it loads Kysely, which takes most of a start, and many processes run no work.
    const { runWork } = await import('./query.ts');
    const body = exports[name]?.body;
    if (body === undefined) throw new Error(`${module} exports no work "${name}"`);
    const run: Run = (input) => (connection) => runWork(connection, body(input));
    works.set(`${module} ${name}`, run);
    return run;
  }

  async function findCall(sent: SentCall): Promise<Call> {
    if ('name' in sent) {
      const { module, name, input } = sent;
      const run = works.get(`${module} ${name}`) ?? (await importWork(module, name));
      return { work: run(input) };
    }
    const statement = statements[sent.statement];
    if (statement === undefined) throw new Error(`statement ${sent.statement} was not sent`);
    return { statement, values: sent.values };
  }

  return ({ newStatements, calls }: Request) => {
    statements.push(...newStatements);
    return Promise.all(calls.map((sent) => findCall(sent).catch(failAlone)));
  };
}

/**
 * Makes a call that cannot be found fail alone, for example when no file can be opened. The rest of its transaction
 * continues.
 */
function failAlone(error: unknown): Call {
  return {
    work: () => {
      throw error;
    },
  };
}

function toReply(outcomes: readonly Outcome[]): Reply {
  const failures = outcomes.flatMap((outcome, job) =>
    'error' in outcome ? [{ job, error: packError(outcome.error) }] : [],
  );
  return { results: outcomes.map((outcome) => ('error' in outcome ? null : outcome.result)), failures };
}

/** A process that runs longer than this is a service, not a command. */
const importAfterMs = 1_000;

/** Imports works in advance: later there may be no free file descriptor. */
async function importWorks(modules: readonly string[]): Promise<void> {
  await import('./query.ts');
  for (const module of modules) await import(module);
}

async function start(port: MessagePort, { path, modules }: ThreadData): Promise<void> {
  const findCalls = createFinder();
  const connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
  // Savepoints keep the original pages. Beyond 64 KiB SQLite would write them to a temporary file.
  connection.raw.exec(`pragma temp_store = memory; pragma wal_autocheckpoint = ${checkpointPages}`);

  async function answer(request: Request): Promise<Reply> {
    try {
      return toReply(runBatch(connection, await findCalls(request)));
    } catch (error) {
      return { notDone: packError(error) };
    }
  }

  port.on('message', async (request: Request | null) => {
    if (request !== null) {
      port.postMessage(await answer(request));
      return;
    }
    connection.close();
    port.close();
  });
  port.postMessage({ results: [], failures: [] } satisfies Reply);
  // A failure here is reported when the work is called.
  setTimeout(() => importWorks(modules).catch(() => undefined), importAfterMs).unref();
}

if (parentPort !== null) {
  const port = parentPort;
  await start(port, workerData).catch((error) => {
    port.postMessage({ notDone: packError(error) } satisfies Reply);
    port.close();
  });
}
