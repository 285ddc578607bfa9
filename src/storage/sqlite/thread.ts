/** The writing thread of a store. It has the only connection of the process that writes, commits and checkpoints. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { NamedWork } from '../database.ts';
import { type Call, type Outcome, runBatch } from './batch.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy } from './connection.ts';
import type { Reply, Request, SentCall, ThreadData } from './messages.ts';
import { packError } from './packed-error.ts';
import type { SqliteStatement } from './prepared.ts';

type Run = (input: unknown) => Extract<Call, { work: unknown }>['work'];

/** Finds what calls name: the statements that were sent before, and works in their modules. */
function createFinder() {
  const statements: SqliteStatement[] = [];
  const works = new Map<string, Run>();

  async function importWork(module: string, name: string): Promise<Run> {
    const exports: Record<string, NamedWork<unknown, unknown> | undefined> = await import(module);
    // Kysely comes with it, which takes most of a start, and many processes run no work.
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

/** A call that cannot be found, as where no file can be opened any more, fails as the others of its transaction go on. */
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

/** When a process that still runs is one that serves, and not a command. */
const importAfterMs = 1_000;

/** Imports works before they are asked for: later there may be no file descriptor left to do so. */
async function importWorks(modules: readonly string[]): Promise<void> {
  await import('./query.ts');
  for (const module of modules) await import(module);
}

async function start(port: MessagePort, { path, modules }: ThreadData): Promise<void> {
  const findCalls = createFinder();
  const connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
  // For what can be undone alone SQLite keeps each page as it was: beyond 64 KiB it would write them to a temporary file.
  connection.raw.exec('pragma temp_store = memory');

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
  // What fails here is told when the work is asked for.
  setTimeout(() => importWorks(modules).catch(() => undefined), importAfterMs).unref();
}

if (parentPort !== null) {
  const port = parentPort;
  await start(port, workerData).catch((error) => {
    port.postMessage({ notDone: packError(error) } satisfies Reply);
    port.close();
  });
}
