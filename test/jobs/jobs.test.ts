import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAudit } from '../../src/audit/audit-log.ts';
import { dayMs, hourMs } from '../../src/clock.ts';
import { AppError } from '../../src/errors.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import { createFirstAnswers } from '../../src/idempotency/answer-once.ts';
import type { ClockWatch } from '../../src/jobs/clock-watch.ts';
import { createInstances } from '../../src/jobs/instances.ts';
import { createJobRunner, type Job } from '../../src/jobs/job-runner.ts';
import { createCorrectionFollower } from '../../src/limits/corrections.ts';
import { createCounterStore } from '../../src/limits/memory/counter-store.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { createLogSwitch } from '../../src/observability/log-changes.ts';
import { createSessions } from '../../src/operator/sessions.ts';
import { listJobs } from '../../src/service-jobs.ts';
import { createFailedRequests } from '../../src/usage/failed-requests.ts';
import { createStrangers } from '../../src/usage/strangers.ts';
import { createUsageCounts } from '../../src/usage/usage.ts';
import { keyed, openShop } from '../contracts/order-shop.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { recordLog } from '../support/recorded-log.ts';

const oldMs = Date.now() - 400 * dayMs;

/** Rows that are 400 days old, in the tables from which a job deletes. */
const oldRows = {
  usage_windows: `(subject, minute_used, minute_ends_at_ms, day_used, day_ends_at_ms)
    values ('account:1', 1, ${oldMs}, 1, ${oldMs})`,
  key_bans: `(key_id, banned_until_ms, last_ban_at_ms, last_ban_ms, refused_at_ms, forget_at_ms)
    values ('key', ${oldMs}, ${oldMs}, 60000, '', ${oldMs})`,
  ban_lifts: `(key_id, account_id, at_ms) values ('key', 1, ${oldMs})`,
  limit_resets: `(account_id, at_ms) values (1, ${oldMs})`,
  requests: `(at_ms, last_at_ms, status, duration_ms, times) values (${oldMs}, ${oldMs}, 404, 1, 1)`,
  usage_hours: `(account_id, hour_at_ms, requests, refusals, errors) values (1, ${oldMs}, 1, 0, 0)`,
  usage_days: `(account_id, day_at_ms, requests, refusals, errors) values (2, ${oldMs}, 1, 0, 0)`,
  strangers: `(minute_at_ms, address, refusals) values (${oldMs}, '192.0.2.1', 1)`,
  audit: `(at_ms, actor_kind, actor, action, subject) values (${oldMs}, 'command', 'me', 'x', 'y')`,
};

/** Creates a store with old rows and an overdue hold, and its jobs. */
async function open(t: TestContext, engine: Engine) {
  const shop = await openShop(t, engine);
  const { database, store } = shop;
  const buyer = await shop.addBuyer();
  const petId = await shop.addPet();
  await shop.orders.place({ petId, holdMs: hourMs, reference: null }, buyer, keyed(buyer, 'key'));
  await shop.endHolds();
  await sequenceEvents(database);
  for (const [table, row] of Object.entries(oldRows)) await store.execute(`insert into ${table} ${row}`);
  await store.execute(`update events set at_ms = ${oldMs}`);
  await store.execute(`update first_answers set created_at_ms = ${oldMs}`);

  const counters = createMemoryCounters();
  const corrections = createCorrectionFollower(database, counters, Date.now);
  const jobs = listJobs({
    store: {
      database,
      orders: shop.orders,
      audit: createAudit(database, Date.now),
      firstAnswers: createFirstAnswers(database),
    },
    corrections,
    counting: createCounterStore({ counters, database, clock: Date.now }),
    usage: createUsageCounts(database, Date.now),
    failedRequests: createFailedRequests(database, Date.now),
    strangers: createStrangers(database, Date.now),
    sessions: createSessions(database, Date.now),
    instances: createInstances(database, Date.now),
    logSwitch: createLogSwitch(database, recordLog().log, { level: 'info', requests: 'errors' }),
    flush: async () => undefined,
    noteFeedLag: () => undefined,
  });

  /** Returns the tables that still have old rows, and the statuses of the animal and its order. */
  async function readState() {
    const kept: string[] = [];
    for (const [table, where] of Object.entries(whereOld))
      if ((await store.execute(`select * from ${table} ${where}`)).length > 0) kept.push(table);
    return { kept, pet: await shop.readRows(petId) };
  }
  return { jobs, readState };
}

/** The rows that `open` has made old, in each table. */
const whereOld = {
  ...Object.fromEntries(Object.keys(oldRows).map((table) => [table, ''])),
  first_answers: '',
  events: `where at_ms = ${oldMs}`,
};
const untouched = { kept: Object.keys(whereOld), pet: 'pending owned, reserved' };
const closed = 'available, expired';

/** Lets the runner decide about each job once, and waits until all jobs have ended. */
async function runOnce(t: TestContext, jobs: readonly Job[], clocks: ClockWatch): Promise<string[]> {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const runner = createJobRunner(recordLog().log, clocks);
  const ran: string[] = [];
  const running: Promise<unknown>[] = [];
  for (const job of jobs) {
    const run = () => {
      ran.push(job.name);
      const ending = job.run();
      running.push(ending);
      return ending;
    };
    runner.start({ ...job, everyMs: hourMs, run });
  }
  t.mock.timers.tick(hourMs);
  await new Promise(setImmediate);
  await Promise.all(running);
  runner.stop();
  t.mock.timers.reset();
  return ran;
}

const answering = (mayClose: boolean, mayDelete: boolean): ClockWatch => ({
  mayClose: async () => mayClose,
  mayDelete: async () => mayDelete,
});

test('the error of a failed job is logged, unless the store is unavailable', async () => {
  const { log, findLines } = recordLog();
  const jobs = createJobRunner(log, answering(true, true));
  const { promise: nextRun, resolve } = Promise.withResolvers<void>();
  const failures: unknown[] = [new Error('one'), new AppError('unavailable', 'two'), new Error('three')];
  const keepsRunning = setInterval(() => undefined, 1_000);
  const run = async () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
    resolve();
  };
  jobs.start({ name: 'fail', everyMs: 1, run });
  await nextRun;
  jobs.stop();
  clearInterval(keepsRunning);
  const lines = findLines();
  assert.equal(lines.length, 2);
  assert.partialDeepStrictEqual(lines, [{ err: { message: 'one' } }, { err: { message: 'three' } }]);
});

await describeOnEngines('the jobs of an instance', (engine) => {
  test('delete and close nothing by age after a clock has leapt', async (t) => {
    const { jobs, readState } = await open(t, engine);
    const ran = await runOnce(t, jobs, answering(false, false));
    assert.deepEqual(await readState(), untouched);
    assert.deepEqual(ran.toSorted(), [
      'add up the inventory',
      'erase deleted accounts',
      'follow changes of the log',
      'follow lifts of bans and resets of limits',
      'note that this instance runs',
      'sequence events',
      'write the counts',
      'write the strangers',
    ]);
  });

  test('keep first answers for a day after a clock has leapt', async (t) => {
    const { jobs, readState } = await open(t, engine);
    const mayDelete = async (keptMs = 0) => keptMs < dayMs;
    await runOnce(t, jobs, { mayClose: async () => true, mayDelete });
    assert.deepEqual(await readState(), { kept: ['first_answers'], pet: closed });
  });

  test('only close overdue holds after a start', async (t) => {
    const { jobs, readState } = await open(t, engine);
    await runOnce(t, jobs, answering(true, false));
    assert.deepEqual(await readState(), { ...untouched, pet: closed });
  });

  test('delete and close what is old while the clocks are steady', async (t) => {
    const { jobs, readState } = await open(t, engine);
    await runOnce(t, jobs, answering(true, true));
    assert.deepEqual(await readState(), { kept: [], pet: closed });
  });
});
