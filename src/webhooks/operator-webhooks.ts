import { findAccountId } from '../accounts/accounts.ts';
import { type Actor, type Authorship, commandActor } from '../audit/audit-entry.ts';
import type { Clock } from '../clock.ts';
import { endsOf, selectEnds } from '../events/feed-page.ts';
import { type Page, toPage } from '../page.ts';
import type { Database } from '../storage/database.ts';
import { listAttempts } from './attempt-rows.ts';
import { changeWebhook, disableWebhooksOfKey, requestMessage, type WebhookChange } from './change-webhook.ts';
import { selectLags } from './delivery-rows.ts';
import { type DisabledReason, toShared, type WebhookStatus } from './webhook.ts';
import {
  countDisabled,
  type ListedWebhookRow,
  readWebhookPage,
  selectWebhooksOfKey,
} from './webhook-rows.ts';
import { findWebhook } from './webhooks.ts';

export interface WebhookQuery {
  readonly limit: number;
  /** The name of an account. Null means all accounts. */
  readonly account: string | null;
  /** `failing`: enabled, and the last attempt has failed. */
  readonly status: WebhookStatus | 'failing' | null;
  /** The highest row id that the page may contain. Null for the first page. */
  readonly newestId: bigint | null;
}

/** How far the active webhooks are behind, and how many are disabled, by the reason. */
export type WebhookLag = Awaited<ReturnType<OperatorWebhooks['readLag']>>;

export type OperatorWebhooks = ReturnType<typeof createOperatorWebhooks>;

/** The lag is that of the active webhooks that are farthest behind. */
const shownLagsMax = 20n;

/**
 * The webhooks of all accounts, for operators. Each change and its row of the audit log, which names `actor`, are one
 * transaction. Throws OperatorError if a webhook does not exist, and the errors of change-webhook.ts.
 */
export function createOperatorWebhooks(database: Database, clock: Clock, actor: Actor = commandActor()) {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  return {
    ...createReads(database),

    /** Changes the status or the position, which restarts the retries. */
    async change(publicId: string, change: Pick<WebhookChange, 'status' | 'after'>): Promise<void> {
      await database.transact(changeWebhook, { publicId, change, manager: byNow() });
    },

    /** Sends the event at a position once more, beside the feed. `messageId` is its id. */
    async send(publicId: string, messageId: string, position: bigint): Promise<void> {
      await database.transact(requestMessage, { publicId, messageId, position, manager: byNow() });
    },

    /** Disables the enabled webhooks that a key created. */
    disableOfKey: (keyId: string): Promise<void> =>
      database.transact(disableWebhooksOfKey, { keyId, by: byNow() }),
  };
}

function createReads(database: Database) {
  /** Returns a page. Deep pages cost as much as the first page. Throws OperatorError if the account does not exist. */
  async function listPage({ limit, account, status, newestId }: WebhookQuery): Promise<Page<ListedWebhook>> {
    const accountId = account === null ? null : await findAccountId(database, account);
    const filter = { accountId, ...(status === 'failing' ? { isFailing: 1n as const } : { status }) };
    const rows = await readWebhookPage(database, filter, limit, newestId);
    return toPage(rows, limit, toListedWebhook);
  }

  return {
    listPage,

    /**
     * Returns the webhooks of an account, oldest first. Null means all accounts. Throws OperatorError if the account
     * does not exist.
     */
    async list(account: string | null): Promise<ListedWebhook[]> {
      const query = { limit: Number.MAX_SAFE_INTEGER, account, status: null, newestId: null };
      return (await listPage(query)).items.toReversed();
    },

    /** Returns a webhook with its last attempts, newest first (webhooks.ts). */
    async get(publicId: string) {
      const row = await findWebhook(database, { publicId });
      return { webhook: toListedWebhook(row), attempts: await listAttempts(database, row.id) };
    },

    /** Reads the lag from the store, so a restart does not forget it. */
    async readLag() {
      const [lags, counts] = await Promise.all([
        database.read(selectLags, { count: shownLagsMax }),
        database.read(countDisabled, {}),
      ]);
      const farthest = lags.flatMap(({ id, behind_ms }) =>
        behind_ms === null ? [] : [{ id, behindMs: Number(behind_ms) }],
      );
      const disabled: Record<DisabledReason, number> = { owner: 0, operator: 0, gone: 0, failing: 0 };
      for (const { disabled_because: because, count } of counts)
        if (because !== null) disabled[because as DisabledReason] = Number(count);
      return { farthest, disabled };
    },

    /** Returns the lowest position after which the store has all events. */
    readOldest: async () => endsOf(await database.read(selectEnds, { position: 0n })).deleted_to,

    /** Returns the webhooks that a key created. They stay active after the key expires or is revoked. */
    listOfKey: (keyId: string) => database.read(selectWebhooksOfKey, { keyId }),
  };
}

/** A webhook as an operator sees it. */
export type ListedWebhook = ReturnType<typeof toListedWebhook>;

function toListedWebhook(row: ListedWebhookRow) {
  return {
    ...toShared(row),
    account: row.account,
    /** True if the account is suspended. The service sends nothing to webhooks of a suspended account. */
    isPaused: row.suspended_at_ms !== null,
    /** The position of the last event that the webhook received or skipped. 0 before the first event. */
    position: row.position,
    /** Number of events in the feed after `position`, of all types. */
    eventsBehind: Number(row.events_behind),
    /** Age of the first event after `position`. Null if there is none. */
    behindMs: row.behind_ms === null ? null : Number(row.behind_ms),
    /** Null before the first attempt. */
    lastAttemptAtMs: row.last_attempt_at_ms === null ? null : Number(row.last_attempt_at_ms),
    lastResult: row.last_result,
  };
}
