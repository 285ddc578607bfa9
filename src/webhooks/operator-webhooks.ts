import { setImmediate as nextTurn } from 'node:timers/promises';
import { selectAccount } from '../accounts/account-rows.ts';
import { noSuchAccount } from '../accounts/account-works.ts';
import type { Act, Actor } from '../audit/act.ts';
import { commandActor } from '../audit/command-actor.ts';
import type { Clock } from '../clock.ts';
import { AppError, OperatorError } from '../errors.ts';
import type { EventType } from '../events/event.ts';
import { int64Max } from '../int64.ts';
import type { Database } from '../storage/database.ts';
import {
  countDisabled,
  type ListedWebhookRow,
  selectFarthestOf,
  selectLag,
  selectWebhookPage,
  selectWebhooksOfKey,
} from './operator-rows.ts';
import { changeWebhookByHand, disableWebhooksOfKey, type OperatorChange } from './operator-works.ts';
import { readTypes } from './sight.ts';
import type { WebhookStatus } from './webhook.ts';
import { selectEnds } from './webhook-rows.ts';

/** A webhook as an operator sees it. */
export interface ListedWebhook {
  readonly id: string;
  readonly account: string;
  /** Whether its account is suspended. A suspended account is sent nothing. */
  readonly isPaused: boolean;
  /** The key that created it. */
  readonly keyId: string;
  readonly url: string;
  readonly types: readonly EventType[];
  readonly status: WebhookStatus;
  /** The position of the last event that it is done with; 0 before the first. */
  readonly position: bigint;
  /** How many events, of any type, come after that position in the feed. */
  readonly eventsBehind: number;
  /** The age of the first of them; null if there is none. */
  readonly behindMs: number | null;
  /** Unix milliseconds; null before the first attempt. */
  readonly lastAttemptAtMs: number | null;
  /** An HTTP status, or why there was no answer. */
  readonly lastResult: string | null;
}

/** The filters and the place of a page. */
export interface WebhookQuery {
  readonly limit: number;
  /** The name of an account; null for all. */
  readonly account: string | null;
  readonly status: WebhookStatus | null;
  /** The largest id of a row on the page; null for the first page. */
  readonly newestId: bigint | null;
}

/** A page of webhooks, newest first, and where the next one begins; null on the last page. */
export interface ListedWebhookPage {
  readonly webhooks: readonly ListedWebhook[];
  readonly nextNewestId: bigint | null;
}

/** The state of all webhooks together. */
export interface WebhookLag {
  /** The active webhook that is farthest behind; null if none is behind. */
  readonly farthest: { readonly id: string; readonly behindMs: number } | null;
  readonly disabled: number;
}

/** A webhook that a key created. */
export interface MadeWebhook {
  readonly id: string;
  readonly url: string;
  readonly status: WebhookStatus;
}

/**
 * Webhooks of all accounts, for operators. Each change is one transaction with its row of the audit log, and restarts
 * the retries. Throws OperatorError if there is no such webhook.
 */
export interface OperatorWebhooks {
  /** A page. It costs the same at any depth. Throws OperatorError if there is no such account. */
  listPage(query: WebhookQuery): Promise<ListedWebhookPage>;
  /** All webhooks, or those of an account, oldest first. */
  list(account: string | null): Promise<ListedWebhook[]>;
  readLag(): Promise<WebhookLag>;
  /** The first position after which the store keeps all events. */
  readOldest(): Promise<bigint>;
  /** Also throws OperatorError if the store no longer keeps the events after its position. */
  enable(id: string): Promise<void>;
  disable(id: string): Promise<void>;
  /**
   * Sets the position of a webhook, enabled or disabled. Also throws `invalid_body` for a position that the feed never
   * had, and `position_lost`.
   */
  replay(id: string, after: bigint | 'now'): Promise<void>;
  /** The webhooks that a key created. They continue after the key ends. */
  listOfKey(keyId: string): Promise<MadeWebhook[]>;
  /** Disables the enabled webhooks that a key created. */
  disableOfKey(keyId: string): Promise<void>;
}

/** The number of webhooks per read when all are read. */
const pageRows = 1_000;

/** Changes are in the audit log under the name of the actor. */
export function createOperatorWebhooks(
  database: Database,
  clock: Clock,
  actor: Actor = commandActor(),
): OperatorWebhooks {
  const actNow = (): Act => ({ actor, nowMs: clock() });
  const change = (publicId: string, to: OperatorChange) =>
    database.transact(changeWebhookByHand, { publicId, change: to, act: actNow() });

  return {
    ...createReads(database),

    async enable(id) {
      try {
        await change(id, { status: 'enabled' });
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'position_lost') throw error;
        throw new OperatorError(
          `the events after the position of ${id} are no longer kept: first replay it from a later event in the console, or let its owner set "after"`,
        );
      }
    },

    disable: (id) => change(id, { status: 'disabled' }),
    replay: (id, after) => change(id, { after }),

    disableOfKey: (keyId) => database.transact(disableWebhooksOfKey, { keyId, act: actNow() }),
  };
}

type Reads = Pick<OperatorWebhooks, 'listPage' | 'list' | 'readLag' | 'readOldest' | 'listOfKey'>;

function createReads(database: Database): Reads {
  async function listPage({ limit, account, status, newestId }: WebhookQuery): Promise<ListedWebhookPage> {
    const filter = { accountId: account === null ? null : await findAccountId(database, account), status };
    const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
    const rows = await database.read(selectWebhookPage(filter), { ...filter, ...range });
    return { webhooks: rows.slice(0, limit).map(toListedWebhook), nextNewestId: rows[limit]?.id ?? null };
  }

  return {
    listPage,

    list: (account) => listAll(listPage, account),

    async readLag() {
      const [farthest, [disabled]] = await Promise.all([
        findFarthest(database),
        database.read(countDisabled, {}),
      ]);
      return { farthest, disabled: Number(disabled?.count ?? 0n) };
    },

    async readOldest() {
      const [ends] = await database.read(selectEnds, {});
      return ends?.deleted_to ?? 0n;
    },

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

async function listAll(
  listPage: OperatorWebhooks['listPage'],
  account: string | null,
): Promise<ListedWebhook[]> {
  const found: ListedWebhook[] = [];
  let newestId: bigint | null = null;
  do {
    const page = await listPage({ limit: pageRows, account, status: null, newestId });
    found.push(...page.webhooks);
    newestId = page.nextNewestId;
  } while (newestId !== null);
  return found.toReversed();
}

/** Reads in steps, so that the event loop runs in between. */
async function findFarthest(database: Database): Promise<WebhookLag['farthest']> {
  let farthest: { readonly public_id: string; readonly position: bigint } | null = null;
  for (let afterId = 0n; ; await nextTurn()) {
    const [found] = await database.read(selectFarthestOf, { afterId, count: BigInt(pageRows) });
    if (found === undefined) break;
    if (farthest === null || found.position < farthest.position) farthest = found;
    afterId = found.last_id;
  }
  if (farthest === null) return null;
  const { public_id: id, position } = farthest;
  const [lag] = await database.read(selectLag, { position });
  const behindMs = lag?.behind_ms ?? null;
  return behindMs === null ? null : { id, behindMs: Number(behindMs) };
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
    position: row.position,
    eventsBehind: Number(row.events_behind),
    behindMs: row.behind_ms === null ? null : Number(row.behind_ms),
    lastAttemptAtMs: row.last_attempt_at_ms === null ? null : Number(row.last_attempt_at_ms),
    lastResult: row.last_result,
  };
}
