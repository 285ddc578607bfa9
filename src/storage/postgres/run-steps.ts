import type { ClientBase } from 'pg';
import { compileStatement } from '../compile.ts';
import type { Isolation, Step, Steps } from '../database.ts';
import { type PostgresCall, type Rows, sendBatch, toCall } from './batch.ts';

const toTextCall = (text: string): PostgresCall => ({ name: text, text, values: [] });
const toBegin = (isolation: Isolation): PostgresCall =>
  toTextCall(`begin isolation level ${isolation === 'serializable' ? isolation : 'read committed'}`);
const commit = toTextCall('commit');
/**
 * A commit waits for a synchronous standby only if its transaction has written. A transaction that changed nothing writes
 * this message to nobody, because its answer may report an earlier commit that the standby does not have yet.
 */
const waitForEarlier: PostgresCall = {
  name: 'wait for earlier commits',
  text: "select pg_logical_emit_message(true, 'animal-store', '') where pg_current_xact_id_if_assigned() is null",
  values: [],
};

/** Rolls back the transaction of a refusal. A refusal reports earlier commits too, such as a deletion, so it waits. */
export async function rollBackRefusal(client: ClientBase): Promise<void> {
  await sendBatch(client, [toTextCall('rollback'), waitForEarlier]);
}

/** A transaction body that runs, with its next steps. `outcome` is null until it ends. */
interface Run<T> {
  readonly body: Steps<T>;
  steps: readonly Step[];
  hasWritten: boolean;
  outcome: PromiseSettledResult<T> | null;
}

/**
 * Runs transaction bodies side by side, the next steps of all in one round trip, and returns the outcome of each. With an
 * `isolation`, they form one transaction, which begins with the first steps and ends with the last. Otherwise the caller
 * opens and ends it.
 *
 * A body that throws before it has written ends alone, and the others go on. After a write, what it throws is thrown here,
 * and the caller has to roll back, because its write would be kept with those of the others.
 */
export async function runSteps<T>(
  client: ClientBase,
  bodies: readonly Steps<T>[],
  isolation: Isolation | null = null,
): Promise<readonly PromiseSettledResult<T>[]> {
  const runs = bodies.map(startRun);
  const listOpen = () => runs.filter(({ outcome }) => outcome === null);
  let opening = isolation === null ? [] : [toBegin(isolation)];
  let isCommitted = false;
  for (let open = listOpen(); open.length > 0; open = listOpen()) {
    if (isCommitted) throw new Error('a transaction has a step after its last one');
    isCommitted = isolation !== null && open.every(({ steps }) => steps.some(({ isLast }) => isLast));
    const calls = open.flatMap(({ steps }) =>
      steps.map(({ statement, parameters }) => toCall(statement, parameters)),
    );
    const results = await sendBatch(client, [...opening, ...calls, ...(isCommitted ? [commit] : [])]);
    const rows = results.slice(opening.length);
    for (const run of open) goOn(run, rows.splice(0, run.steps.length));
    opening = [];
  }
  if (isolation !== null && !isCommitted) await sendBatch(client, [waitForEarlier, commit]);
  return runs.map(({ outcome }) => outcome as PromiseSettledResult<T>);
}

function startRun<T>(body: Steps<T>): Run<T> {
  const run: Run<T> = { body, steps: [], hasWritten: false, outcome: null };
  goOn(run, []);
  return run;
}

/** Gives a body the rows of its last steps. */
function goOn<T>(run: Run<T>, rows: readonly Rows[]): void {
  run.hasWritten ||= run.steps.some(
    ({ statement, parameters }) => compileStatement(statement, 'postgres', parameters).isWriting,
  );
  try {
    const next = run.body.next(rows);
    if (next.done) run.outcome = { status: 'fulfilled', value: next.value };
    else run.steps = next.value;
  } catch (reason) {
    if (run.hasWritten) throw reason;
    run.outcome = { status: 'rejected', reason };
  }
}

/** Returns the value of an outcome, or throws its reason. */
export function takeValue<T>(outcome: PromiseSettledResult<T> | undefined): T {
  if (outcome?.status === 'fulfilled') return outcome.value;
  throw outcome?.reason;
}
