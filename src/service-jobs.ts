import { eraseDeletedAccounts } from './accounts/delete-account.ts';
import { hourMs, minuteMs, secondMs } from './clock.ts';
import { expireEvents } from './events/expire-events.ts';
import { sequenceEvents } from './events/sequence-events.ts';
import { firstAnswersKeptMs } from './idempotency/answer-once.ts';
import { foldInventory } from './inventory/inventory.ts';
import { beatMs, type Instances } from './jobs/instances.ts';
import type { Job } from './jobs/job-runner.ts';
import type { CorrectionFollower } from './limits/corrections.ts';
import type { CounterStore } from './limits/memory/counter-store.ts';
import type { LogSwitch } from './observability/log-changes.ts';
import type { Sessions } from './operator/sessions.ts';
import type { Store } from './store.ts';
import type { FailedRequests } from './usage/failed-requests.ts';
import type { Strangers } from './usage/strangers.ts';
import type { UsageCounts } from './usage/usage.ts';

/** A kill may lose at most one second of counts. Half of that leaves room for a flush that is late under full load. */
const flushMs = secondMs / 2;
/** An animal must be available within 2 s after its hold expires. */
const expiryMs = secondMs / 2;
/** An event must be readable within 1 s of its commit. */
const sequencingMs = secondMs / 10;

export interface JobParts {
  readonly store: Pick<Store, 'database' | 'audit' | 'firstAnswers' | 'orders'>;
  readonly counting: Pick<CounterStore, 'sweep'>;
  readonly usage: Pick<UsageCounts, 'sweep'>;
  readonly failedRequests: Pick<FailedRequests, 'sweep'>;
  readonly strangers: Pick<Strangers, 'flush' | 'sweep'>;
  readonly sessions: Pick<Sessions, 'sweep'>;
  readonly instances: Pick<Instances, 'beat'>;
  readonly logSwitch: Pick<LogSwitch, 'follow'>;
  readonly corrections: CorrectionFollower;
  readonly flush: () => Promise<unknown>;
  /** Gets the age in ms of the oldest event without a position. */
  readonly noteFeedLag: (ms: number) => void;
}

/** Lists the jobs of every instance. Delivery of webhooks has its own (deliver-webhooks.ts). */
export function listJobs(parts: JobParts): readonly Job[] {
  const { store, counting, usage, failedRequests, strangers, sessions, corrections, flush } = parts;
  const { instances, logSwitch, noteFeedLag } = parts;
  const { database, audit, firstAnswers, orders } = store;
  const deletes = (what: string, everyMs: number, run: Job['run'], keptMs?: number): Job => ({
    name: `delete ${what}`,
    everyMs,
    run,
    byAge: 'deletes',
    keptMs,
  });
  return [
    { name: 'write the counts', everyMs: flushMs, run: flush },
    { name: 'follow lifts of bans and resets of limits', everyMs: secondMs, run: corrections.follow },
    { name: 'follow changes of the log', everyMs: secondMs, run: logSwitch.follow },
    { name: 'note that this instance runs', everyMs: beatMs, run: instances.beat },
    { name: 'write the strangers', everyMs: minuteMs, run: strangers.flush },
    { name: 'close overdue holds', everyMs: expiryMs, run: orders.expire, byAge: 'closes' },
    { name: 'erase deleted accounts', everyMs: minuteMs, run: () => eraseDeletedAccounts(database) },
    { name: 'add up the inventory', everyMs: secondMs, run: () => foldInventory(database) },
    { name: 'sequence events', everyMs: sequencingMs, run: () => sequenceEvents(database, noteFeedLag) },
    deletes('ended counts', secondMs, counting.sweep),
    deletes('old usage', minuteMs, usage.sweep),
    deletes('old requests', minuteMs, failedRequests.sweep),
    deletes('old strangers', minuteMs, strangers.sweep),
    deletes('old lifts of bans and resets of limits', minuteMs, corrections.sweep),
    deletes('old first answers', minuteMs, firstAnswers.sweep, firstAnswersKeptMs),
    deletes('ended console sessions', minuteMs, sessions.sweep),
    deletes('old audit entries', hourMs, audit.sweep),
    deletes('old events', minuteMs, () => expireEvents(database)),
  ];
}
