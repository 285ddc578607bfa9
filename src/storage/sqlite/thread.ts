/**
 * The writing thread of a store. Its connection is the only one in the process that writes, commits and makes
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
 * Number of pages in the WAL that triggers a checkpoint. If many commits change the same page, a checkpoint copies
 * that page only once. One block of SQLite's WAL index still covers this number, so reads do not get slower.
 */
const checkpointPages = 4_000;

type Run = (input: unknown) => Extract<Call, { work: unknown }>['work'];

/** Creates the function that finds the statements and named transactions of a request. */
function createFinder() {
  const statements: SqliteStatement[] = [];
  const works = new Map<string, Run>();

  async function importWork(module: string, name: string): Promise<Run> {
    const exports: Record<string, NamedWork<unknown, unknown> | undefined> = await import(module);
    // Imported late, because it loads Kysely, which takes most of the time of a start. Many processes run no named
    // transaction.
    const { runWork } = await import('./query.ts');
    const body = exports[name]?.body;
    if (body === undefined) throw new Error(`${module} exports no named transaction "${name}"`);
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
 * Returns a call that always fails with this error. It replaces a call whose module cannot be imported, for example
 * because no file descriptor is free. The rest of the transaction continues.
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

/** Time in ms until the modules are imported. A process that still runs then is a service, not a command. */
const importAfterMs = 1_000;

/** Imports the named transactions in advance, because later there may be no free file descriptor. */
async function importWorks(modules: readonly string[]): Promise<void> {
  await import('./query.ts');
  for (const module of modules) await import(module);
}

async function start(port: MessagePort, { path, modules }: ThreadData): Promise<void> {
  const findCalls = createFinder();
  const connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
  // A savepoint keeps the original pages. Without `temp_store`, SQLite would write them to a temporary file beyond 64
  // KiB.
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
  // A failed import is ignored here, because the first call that needs the module reports it.
  setTimeout(() => importWorks(modules).catch(() => undefined), importAfterMs).unref();
}

if (parentPort !== null) {
  const port = parentPort;
  await start(port, workerData).catch((error) => {
    port.postMessage({ notDone: packError(error) } satisfies Reply);
    port.close();
  });
}
