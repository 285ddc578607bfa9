/**
 * The writing thread of a store. Its connection is the only one in the process that writes, commits and makes
 * checkpoints.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Transaction } from '../database.ts';
import { type Call, type Outcome, runBatch } from './batch.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy } from './connection.ts';
import type { Reply, Request, SentCall, ThreadData } from './messages.ts';
import { packError } from './packed-error.ts';
import type { SqliteStatement } from './prepared.ts';
import { runSteps } from './query.ts';

/**
 * Number of pages in the WAL that triggers a checkpoint. If many commits change the same page, a checkpoint copies
 * that page only once. One block of SQLite's WAL index still covers this number, so reads do not get slower.
 */
const checkpointPages = 4_000;

/** The transactions that this thread can run, by name. */
type Transactions = ReadonlyMap<string, Transaction<never, unknown>>;

type Run = Extract<Call, { work: unknown }>['work'];

/** Creates the function that finds the statements and transactions of a request. */
function createFinder(transactions: Transactions) {
  const statements: SqliteStatement[] = [];

  function findCall(sent: SentCall): Call {
    if ('name' in sent) return { work: toWork(sent) };
    const statement = statements[sent.statement];
    if (statement === undefined) throw new Error(`statement ${sent.statement} was not sent`);
    return { statement, values: sent.values };
  }

  function toWork({ name, input }: Extract<SentCall, { name: string }>): Run {
    const transaction = transactions.get(name);
    return (connection) => {
      if (transaction === undefined) throw new Error(`the list of transactions has no "${name}"`);
      return runSteps(connection, transaction.body(input as never));
    };
  }

  return ({ newStatements, calls }: Request) => {
    statements.push(...newStatements);
    return calls.map(findCall);
  };
}

function toReply(outcomes: readonly Outcome[]): Reply {
  const failures = outcomes.flatMap((outcome, job) =>
    'error' in outcome ? [{ job, error: packError(outcome.error) }] : [],
  );
  return { results: outcomes.map((outcome) => ('error' in outcome ? null : outcome.result)), failures };
}

async function start(port: MessagePort, { path }: ThreadData, transactions: Transactions): Promise<void> {
  const findCalls = createFinder(transactions);
  const connection = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
  // A savepoint keeps the original pages. Without `temp_store`, SQLite would write them to a temporary file beyond 64
  // KiB.
  connection.raw.exec(`pragma temp_store = memory; pragma wal_autocheckpoint = ${checkpointPages}`);

  function answer(request: Request): Reply {
    try {
      return toReply(runBatch(connection, findCalls(request)));
    } catch (error) {
      return { notDone: packError(error) };
    }
  }

  port.on('message', (request: Request | null) => {
    if (request !== null) {
      port.postMessage(answer(request));
      return;
    }
    connection.close();
    port.close();
  });
  port.postMessage({ results: [], failures: [] } satisfies Reply);
}

/** Serves writes in this worker thread. The thread's entry calls it once with the list of transactions. */
export async function serveWrites(transactions: readonly Transaction<never, unknown>[]): Promise<void> {
  if (parentPort === null) throw new Error('writes are served only in a worker thread');
  const port = parentPort;
  const byName = new Map(transactions.map((transaction) => [transaction.name, transaction]));
  await start(port, workerData, byName).catch((error) => {
    port.postMessage({ notDone: packError(error) } satisfies Reply);
    port.close();
  });
}
