import { noSuchAccount } from '../accounts/account-changes.ts';
import { selectAccount } from '../accounts/account-rows.ts';
import type { Actor, Authorship } from '../audit/audit-entry.ts';
import { commandActor } from '../audit/audit-entry.ts';
import type { Clock } from '../clock.ts';
import { AppError, OperatorError } from '../errors.ts';
import type { EventType } from '../events/event.ts';
import { endsOf, selectEnds } from '../events/feed-page.ts';
import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import type { Database } from '../storage/database.ts';
import { listAttempts } from './attempt-rows.ts';
import {
  changeWebhookByHand,
  disableWebhooksOfKey,
  type OperatorChange,
  sendByHand,
  webhookNotFound,
} from './change-webhook.ts';
import { selectLags } from './delivery-rows.ts';
import { type Attempt, type DisabledReason, readTypes, toAttempt, type WebhookStatus } from './webhook.ts';
import {
  countDisabled,
  type ListedWebhookRow,
  selectWebhookPage,
  selectWebhooksOfKey,
} from './webhook-rows.ts';

/** A webhook as an operator sees it. */
export interface ListedWebhook {
  readonly id: string;
  readonly account: string;
  /** True if the account is suspended. The service sends nothing to webhooks of a suspended account. */
  readonly isPaused: boolean;
  /** The id of the key that created the webhook. */
  readonly keyId: string;
  readonly url: string;
  readonly types: readonly EventType[];
  readonly status: WebhookStatus;
  /** Null while the webhook is enabled. */
  readonly disabledBecause: DisabledReason | null;
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

/** A webhook that a key created. */
export interface MadeWebhook {
  readonly id: string;
  readonly url: string;
  readonly status: WebhookStatus;
}

/**
 * Webhooks of all accounts, for operators. Each change and its row of the audit log are one transaction. Each change
 * restarts the retries. Throws OperatorError if a webhook does not exist.
 */
export interface OperatorWebhooks {
  /** Returns a page. Deep pages cost as much as the first page. Throws OperatorError if the account does not exist. */
  listPage(query: WebhookQuery): Promise<Page<ListedWebhook>>;
  /**
   * Returns the webhooks of an account, oldest first. Null means all accounts. Throws OperatorError if the account does
   * not exist.
   */
  list(account: string | null): Promise<ListedWebhook[]>;
  /** Returns a webhook with its last attempts, newest first (webhooks.ts). */
  get(id: string): Promise<{ readonly webhook: ListedWebhook; readonly attempts: readonly Attempt[] }>;
  /** Reads the lag from the store, so a restart does not forget it. */
  readLag(): Promise<WebhookLag>;
  /** Returns the lowest position after which the store has all events. */
  readOldest(): Promise<bigint>;
  /** Also throws OperatorError if an event after the position of the webhook is deleted. */
  enable(id: string): Promise<void>;
  disable(id: string): Promise<void>;
  /**
   * Sets the position of an enabled or disabled webhook. Also throws `invalid_body` if the position is after the newest
   * event, and `position_lost` if an event after the position is deleted.
   */
  replay(id: string, after: bigint | 'now'): Promise<void>;
  /**
   * Sends an event once more, beside the feed. `position` is the position of the event. Throws `limit_reached`,
   * `invalid_body` for an event that the webhook does not receive, and `events_expired` for one that is deleted.
   */
  send(id: string, eventId: string, position: bigint): Promise<void>;
  /** Returns the webhooks that a key created. They stay active after the key expires or is revoked. */
  listOfKey(keyId: string): Promise<MadeWebhook[]>;
  /** Disables the enabled webhooks that a key created. */
  disableOfKey(keyId: string): Promise<void>;
}

/** Number of webhooks in one read of `list`. */
const listedRows = 1_000;
/** Maximum number of webhooks in `WebhookLag.farthest`. */
const shownLagsMax = 20n;

/** Creates the access of an operator to the webhooks of a store. The audit log names `actor` in each row. */
export function createOperatorWebhooks(
  database: Database,
  clock: Clock,
  actor: Actor = commandActor(),
): OperatorWebhooks {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });
  const change = (publicId: string, to: OperatorChange) =>
    database.transact(changeWebhookByHand, { publicId, change: to, by: byNow() });

  return {
    ...createReads(database),

    async enable(id) {
      try {
        await change(id, { status: 'enabled' });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'position_lost') throw error;
        throw new OperatorError(
          `the events after the position of ${id} are no longer kept: first replay the webhook from a later event in the console, or let its owner set "after"`,
        );
      }
    },

    disable: (id) => change(id, { status: 'disabled' }),
    replay: (id, after) => change(id, { after }),

    send(id, messageId, position) {
      const name = { publicId: id, accountId: null };
      return database.transact(sendByHand, { name, messageId, position, by: byNow() });
    },

    disableOfKey: (keyId) => database.transact(disableWebhooksOfKey, { keyId, by: byNow() }),
  };
}

type Reads = Pick<OperatorWebhooks, 'listPage' | 'list' | 'get' | 'readLag' | 'readOldest' | 'listOfKey'>;

function createReads(database: Database): Reads {
  async function listPage({ limit, account, status, newestId }: WebhookQuery): Promise<Page<ListedWebhook>> {
    const accountId = account === null ? null : await findAccountId(database, account);
    const filter = { accountId, status, publicId: null };
    const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
    const rows = await database.read(selectWebhookPage(filter), { ...filter, ...range });
    return toPage(rows, limit, toListedWebhook);
  }

  return {
    listPage,

    async list(account) {
      const found: ListedWebhook[] = [];
      let newestId: bigint | null = null;
      do {
        const page = await listPage({ limit: listedRows, account, status: null, newestId });
        found.push(...page.items);
        newestId = page.next;
      } while (newestId !== null);
      return found.toReversed();
    },

    async get(id) {
      const filter = { accountId: null, status: null, publicId: id };
      const [row] = await database.read(selectWebhookPage(filter), {
        ...filter,
        newestId: int64Max,
        count: 1n,
      });
      if (row === undefined) throw webhookNotFound();
      return {
        webhook: toListedWebhook(row),
        attempts: (await listAttempts(database, row.id)).map(toAttempt),
      };
    },

    readLag: () => readLag(database),

    readOldest: async () => endsOf(await database.read(selectEnds, { position: 0n })).deleted_to,

    async listOfKey(keyId) {
      const rows = await database.read(selectWebhooksOfKey, { keyId });
      return rows.map(({ public_id, url, status }) => ({
        id: public_id,
        url,
        status: status as WebhookStatus,
      }));
    },
  };
}

async function readLag(database: Database): Promise<WebhookLag> {
  const [lags, counts] = await Promise.all([
    database.read(selectLags, { count: shownLagsMax }),
    database.read(countDisabled, {}),
  ]);
  const farthest = lags.map(({ public_id: id, behind_ms }) => ({ id, behindMs: Number(behind_ms) }));
  const disabled = { owner: 0, operator: 0, gone: 0, failing: 0 };
  for (const { disabled_because: because, count } of counts)
    if (because !== null) disabled[because as DisabledReason] = Number(count);
  return { farthest, disabled };
}

async function findAccountId(database: Database, name: string): Promise<bigint> {
  const [row] = await database.read(selectAccount, { name });
  if (row === undefined) throw noSuchAccount(name);
  return row.id;
}

function toListedWebhook(row: ListedWebhookRow): ListedWebhook {
  return {
    id: row.public_id,
    account: row.account,
    isPaused: row.suspended_at_ms !== null,
    keyId: row.key_id,
    url: row.url,
    types: readTypes(row.types),
    status: row.status as WebhookStatus,
    disabledBecause: row.disabled_because as DisabledReason | null,
    position: row.position,
    eventsBehind: Number(row.events_behind),
    behindMs: row.behind_ms === null ? null : Number(row.behind_ms),
    lastAttemptAtMs: row.last_attempt_at_ms === null ? null : Number(row.last_attempt_at_ms),
    lastResult: row.last_result,
  };
}
