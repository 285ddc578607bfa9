import { findAccountId } from '../accounts/accounts.ts';
import { type Actor, type Authorship, commandActor } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { OperatorError, reasonOf } from '../errors.ts';
import { endsOf, judgePosition, selectEnds } from '../events/feed-page.ts';
import type { Database } from '../storage/database.ts';
import { readPage } from '../storage/read-page.ts';
import { listAttempts } from './attempt-rows.ts';
import { changeWebhook, disableWebhooksOfKey, type WebhookChange } from './change-webhook.ts';
import { countLeft, leftMax, selectLags } from './delivery-rows.ts';
import { requestMessage } from './requested-messages.ts';
import type { SecretBox } from './secret-box.ts';
import { type DisabledReason, readNextAttemptMs, toShared, type WebhookStatus } from './webhook.ts';
import {
  countDisabled,
  type ListedWebhookRow,
  selectWebhookPage,
  selectWebhooksOfKey,
  type WebhookRow,
} from './webhook-rows.ts';
import { selectValidSecrets } from './webhook-secret-rows.ts';
import { findRow, selectOne } from './webhooks.ts';

export interface WebhookQuery {
  readonly account?: string | null | undefined;
  /** `failing`: enabled, and the last attempt has failed. */
  readonly status?: WebhookStatus | 'failing' | null | undefined;
  readonly limit: number;
  /** The highest row id that the page may contain. */
  readonly newestId?: bigint | null | undefined;
}

/** How far the active webhooks are behind, and how many are disabled, by the reason. */
export type WebhookLag = Awaited<ReturnType<ReturnType<typeof createOperatorWebhooks>['readLag']>>;

const noneDisabled: Readonly<Record<DisabledReason, number>> = {
  owner: 0,
  operator: 0,
  gone: 0,
  failing: 0,
  restored: 0,
};

/**
 * The webhooks of all accounts, for operators. Each change and its row of the audit log, which names `actor`, are one
 * transaction. Throws OperatorError if a webhook or an account does not exist, or a webhook without a readable secret would
 * be enabled, and the errors of change-webhook.ts.
 */
export function createOperatorWebhooks(
  database: Database,
  clock: Clock,
  box: SecretBox,
  actor: Actor = commandActor(),
) {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  const listPage = (query: WebhookQuery) => readWebhookPage(database, query);

  async function change(publicId: string, wanted: Pick<WebhookChange, 'status' | 'after'>): Promise<void> {
    if (wanted.status === 'enabled') await requireReadable(database, publicId, box);
    await database.transact(changeWebhook, { publicId, change: wanted, manager: byNow() });
  }

  return {
    listPage,

    /** Returns all webhooks of an account, oldest first. Null means all accounts. */
    list: async (account: string | null): Promise<ListedWebhook[]> =>
      (await listPage({ account, limit: Number.MAX_SAFE_INTEGER })).items.toReversed(),

    /** Returns a webhook with its attempts. `left` is null while the webhook is enabled. */
    async get(publicId: string) {
      const row = await findRow(database, { publicId });
      const left = row.status === 'disabled' ? await readLeft(database, row) : null;
      return { webhook: toListedWebhook(row), attempts: await listAttempts(database, row.id), left };
    },

    readLag: () => readLag(database),

    /** Returns the lowest position after which the store has all events. */
    readOldest: async () => endsOf(await database.read(selectEnds, { position: 0n })).deleted_to,

    listOfKey: (keyId: string) => database.read(selectWebhooksOfKey, { keyId }),

    change,

    /** Enables the webhooks that a restore has put on hold, from their positions or from the end of the feed. */
    async resumeAll(fromNow: boolean) {
      const { items } = await listPage({ account: null, status: 'disabled', limit: Number.MAX_SAFE_INTEGER });
      const onHold = items.filter(({ disabledBecause }) => disabledBecause === 'restored').reverse();
      const enabled = { status: 'enabled', ...(fromNow && ({ after: 'now' } as const)) } as const;
      return changeEach(onHold, (publicId) => change(publicId, enabled));
    },

    /** `messageId` is the id of the event at `position`. */
    async send(publicId: string, messageId: string, position: bigint): Promise<void> {
      await database.transact(requestMessage, { publicId, messageId, position, manager: byNow() });
    },

    disableOfKey: (keyId: string): Promise<void> =>
      database.transact(disableWebhooksOfKey, { keyId, by: byNow() }),
  };
}

async function readWebhookPage(database: Database, query: WebhookQuery) {
  const { account = null, status, limit, newestId = null } = query;
  const accountId = account === null ? null : await findAccountId(database, account);
  const filter = status === 'failing' ? { isFailing: 1n as const } : { status: status ?? null };
  const page = { ...filter, accountId, limit, newestId };
  return await readPage(database, selectWebhookPage, page, toListedWebhook);
}

/** Returns the webhook of any account with this id, or null if there is none. */
export async function findWebhook(database: Database, publicId: string): Promise<ListedWebhook | null> {
  const row = await selectOne(database, { publicId });
  return row === undefined ? null : toListedWebhook(row);
}

/** Throws OperatorError if no key decrypts the secrets of a webhook. Enabled, it would get nothing and could stop the next start. */
async function requireReadable(database: Database, publicId: string, box: SecretBox): Promise<void> {
  const row = await selectOne(database, { publicId });
  if (row === undefined) return;
  const sealed = await database.read(selectValidSecrets, { id: row.id });
  if (sealed.length === 0 || sealed.some(({ secret }) => box.open(secret, publicId) !== null)) return;
  throw new OperatorError(
    `WEBHOOK_SECRET_KEY does not decrypt the secrets of ${publicId}: set the key that encrypted them, or let its owner rotate the secret`,
  );
}

/** Reads the lag from the store, so a restart does not forget it. */
async function readLag(database: Database) {
  const reads = [database.read(selectLags, {}), database.read(countDisabled, {})] as const;
  const [lags, counts] = await Promise.all(reads);
  const farthest = lags.flatMap(({ id, behind_ms }) =>
    behind_ms === null ? [] : [{ id, behindMs: Number(behind_ms) }],
  );
  const disabled = { ...noneDisabled };
  for (const { disabled_because: because, count } of counts)
    if (because !== null) disabled[because as DisabledReason] = Number(count);
  return { farthest, disabled };
}

/** Changes each webhook alone: one whose events are gone does not stop the others, and is returned with the reason. */
async function changeEach(webhooks: readonly ListedWebhook[], change: (id: string) => Promise<unknown>) {
  const resumed: string[] = [];
  const failed: { readonly id: string; readonly problem: string }[] = [];
  for (const { id } of webhooks)
    try {
      await change(id);
      resumed.push(id);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      failed.push({ id, problem: reasonOf(error) });
    }
  return { resumed, failed };
}

/** What a disabled webhook would get if it were enabled. */
export interface EventsLeft {
  /** The events after its position that are kept and that it may see. At most `leftMax`. */
  readonly events: number;
  /** True if there are more than `leftMax`. */
  readonly hasMore: boolean;
  /** True if events after its position are deleted, so that it cannot continue from there. */
  readonly isPositionLost: boolean;
}

async function readLeft(database: Database, { id, position }: WebhookRow): Promise<EventsLeft> {
  const [[left], ends] = await Promise.all([
    database.read(countLeft, { id }),
    database.read(selectEnds, { position }),
  ]);
  const isPositionLost = judgePosition(position, endsOf(ends)) === 'lost';
  const count = Number(left?.count ?? 0n);
  return { events: Math.min(count, leftMax), hasMore: count > leftMax, isPositionLost };
}

export type ListedWebhook = ReturnType<typeof toListedWebhook>;

function toListedWebhook(row: ListedWebhookRow) {
  const isPaused = row.suspended_at_ms !== null;
  const nextAttemptMs = isPaused ? null : readNextAttemptMs(row);
  return {
    ...toShared(row),
    account: row.account,
    /** True if the account is suspended. The service sends nothing to webhooks of a suspended account. */
    isPaused,
    position: row.position,
    /** Number of kept events after `position`, of all types. */
    eventsBehind: Number(row.events_behind),
    /** Age of the first event after `position`. Null if there is none. */
    behindMs: row.behind_ms === null ? null : Number(row.behind_ms),
    /** Null before the first attempt. */
    lastAttemptAtMs: row.last_attempt_at_ms === null ? null : Number(row.last_attempt_at_ms),
    lastResult: row.last_result,
    /** Null while no retry waits. */
    nextAttemptAtMs: nextAttemptMs === null ? null : Number(nextAttemptMs),
  };
}
