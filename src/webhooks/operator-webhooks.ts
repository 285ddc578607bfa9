import { findAccountId } from '../accounts/accounts.ts';
import type { Actor, Authorship } from '../audit/audit-entry.ts';
import { commandActor } from '../audit/audit-entry.ts';
import type { Clock } from '../clock.ts';
import { AppError, OperatorError } from '../errors.ts';
import { endsOf, selectEnds } from '../events/feed-page.ts';
import { type Page, toPage } from '../page.ts';
import type { Database } from '../storage/database.ts';
import { listAttempts } from './attempt-rows.ts';
import {
  changeWebhook,
  disableWebhooksOfKey,
  requestMessage,
  type WebhookChange,
  webhookNotFound,
} from './change-webhook.ts';
import { selectLags } from './delivery-rows.ts';
import { type DisabledReason, toShared, type Webhook, type WebhookStatus } from './webhook.ts';
import {
  countDisabled,
  type ListedWebhookRow,
  readWebhookPage,
  selectWebhooksOfKey,
} from './webhook-rows.ts';

/** A webhook as an operator sees it. */
export interface ListedWebhook extends Omit<Webhook, 'after' | 'lastAttempt'> {
  readonly account: string;
  /** True if the account is suspended. The service sends nothing to webhooks of a suspended account. */
  readonly isPaused: boolean;
  /** The position of the last event that the webhook received or skipped. 0 before the first event. */
  readonly position: bigint;
  /** Number of events in the feed after `position`, of all types. */
  readonly eventsBehind: number;
  /** Age of the first event after `position`. Null if there is none. */
  readonly behindMs: number | null;
  /** Unix milliseconds. Null before the first attempt. */
  readonly lastAttemptAtMs: number | null;
  /** The HTTP status, or an `AttemptFailure` if there was no response. Null before the first attempt. */
  readonly lastResult: string | null;
}

export interface WebhookQuery {
  readonly limit: number;
  /** The name of an account. Null means all accounts. */
  readonly account: string | null;
  /** `failing`: enabled, and the last attempt has failed. */
  readonly status: WebhookStatus | 'failing' | null;
  /** The highest row id that the page may contain. Null for the first page. */
  readonly newestId: bigint | null;
}

/** How far all active webhooks together are behind. */
export interface WebhookLag {
  /** The 20 active webhooks that are farthest behind, with the age of the next event of each. */
  readonly farthest: readonly { readonly id: string; readonly behindMs: number }[];
  /** Number of disabled webhooks, by the reason. */
  readonly disabled: Readonly<Record<DisabledReason, number>>;
}

export type OperatorWebhooks = ReturnType<typeof createOperatorWebhooks>;

/** Maximum number of webhooks in `WebhookLag.farthest`. */
const shownLagsMax = 20n;

/**
 * The webhooks of all accounts, for operators. Each change and its row of the audit log, which names `actor`, are one
 * transaction. Each change restarts the retries. Throws OperatorError if a webhook does not exist.
 */
export function createOperatorWebhooks(database: Database, clock: Clock, actor: Actor = commandActor()) {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  async function change(publicId: string, to: WebhookChange): Promise<void> {
    await database.transact(changeWebhook, { publicId, change: to, manager: byNow() });
  }

  return {
    ...createReads(database),

    /** Also throws OperatorError if an event after the position of the webhook is deleted. */
    async enable(id: string): Promise<void> {
      try {
        await change(id, { status: 'enabled' });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'position_lost') throw error;
        throw new OperatorError(
          `the events after the position of ${id} are no longer kept: first replay the webhook from a later event in the console, or let its owner set "after"`,
        );
      }
    },

    disable: (id: string) => change(id, { status: 'disabled' }),

    /**
     * Sets the position of an enabled or disabled webhook. Also throws `invalid_body` if the position is after the newest
     * event, and `position_lost` if an event after the position is deleted.
     */
    replay: (id: string, after: bigint | 'now') => change(id, { after }),

    /**
     * Sends an event once more, beside the feed. `position` is the position of the event. Throws `limit_reached`,
     * `invalid_body` for an event that the webhook does not receive, and `events_expired` for one that is deleted.
     */
    async send(publicId: string, messageId: string, position: bigint): Promise<void> {
      await database.transact(requestMessage, { publicId, messageId, position, manager: byNow() });
    },

    /** Disables the enabled webhooks that a key created. */
    async disableOfKey(keyId: string): Promise<void> {
      await database.transact(disableWebhooksOfKey, { keyId, by: byNow() });
    },
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
      const [row] = await readWebhookPage(database, { publicId }, 1, null);
      if (row === undefined) throw webhookNotFound();
      return { webhook: toListedWebhook(row), attempts: await listAttempts(database, row.id) };
    },

    /** Reads the lag from the store, so a restart does not forget it. */
    async readLag(): Promise<WebhookLag> {
      const [lags, counts] = await Promise.all([
        database.read(selectLags, { count: shownLagsMax }),
        database.read(countDisabled, {}),
      ]);
      const farthest = lags.flatMap(({ id, behind_ms }) =>
        behind_ms === null ? [] : [{ id, behindMs: Number(behind_ms) }],
      );
      const disabled = { owner: 0, operator: 0, gone: 0, failing: 0 };
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

function toListedWebhook(row: ListedWebhookRow): ListedWebhook {
  return {
    ...toShared(row),
    account: row.account,
    isPaused: row.suspended_at_ms !== null,
    position: row.position,
    eventsBehind: Number(row.events_behind),
    behindMs: row.behind_ms === null ? null : Number(row.behind_ms),
    lastAttemptAtMs: row.last_attempt_at_ms === null ? null : Number(row.last_attempt_at_ms),
    lastResult: row.last_result,
  };
}
