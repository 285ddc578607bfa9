import { randomText } from '../accounts/api-key.ts';
import { AppError } from '../errors.ts';
import type { EventType } from '../events/event.ts';
import type { EventIds } from '../events/event-ids.ts';
import { type EventReader, listReadableTypes } from '../events/event-reader.ts';
import { type Page, toPage } from '../page.ts';
import type { Database } from '../storage/database.ts';
import { listAttempts } from './attempt-rows.ts';
import {
  addWebhook,
  changeWebhook,
  removeWebhook,
  requestMessage,
  requireReadable,
  rotateSecret,
  type WebhookChange,
  webhookNotFound,
} from './change-webhook.ts';
import type { SecretBox } from './secret-box.ts';
import { generateSecret, writeSecret } from './sign-message.ts';
import { type Attempt, readEventId, toWebhook, type Webhook } from './webhook.ts';
import { readWebhookPage, selectWebhook, type WebhookRow } from './webhook-rows.ts';

export interface WebhookOrder {
  readonly url: string;
  /** Null means all types that the key may read. */
  readonly types: readonly EventType[] | null;
  readonly keyId: string;
}

/** A webhook with its new secret. The secret cannot be read again. */
export interface SecretWebhook extends Webhook {
  readonly secret: string;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/**
 * The webhooks of accounts. A reader sees only the webhooks of its account; other webhooks count as not found. Methods
 * also throw the errors of the database.
 *
 * Each change throws `not_found`. It throws `scope_missing` if the webhook receives events that the reader may not
 * read.
 */
export function createWebhooks(database: Database, ids: EventIds, box: SecretBox) {
  return {
    /** Creates a webhook that starts at the end of the feed. Throws `scope_missing` and `limit_reached`. */
    async add(order: WebhookOrder, reader: EventReader): Promise<SecretWebhook> {
      const secret = generateSecret();
      const publicId = `wh_${randomText(16)}`;
      const sealed = box.seal(secret, publicId);
      const row = await database.transact(addWebhook, toNewRow(order, reader, publicId, sealed));
      return { ...toWebhook(row, ids), secret: writeSecret(secret) };
    },

    /** Returns at most `limit` webhooks with row ids up to `newestId`. Null starts with the newest webhook. */
    async list(accountId: bigint, limit: number, newestId: bigint | null): Promise<Page<Webhook>> {
      const rows = await readWebhookPage(database, { accountId }, limit, newestId);
      return toPage(rows, limit, (row) => toWebhook(row, ids));
    },

    /** Throws `not_found`. */
    get: async (id: string, accountId: bigint): Promise<Webhook> =>
      toWebhook(await findWebhook(database, id, accountId), ids),

    /**
     * Also throws `invalid_body` if the position is after the newest event, and `position_lost` if an event after the
     * position is deleted.
     */
    async change(publicId: string, change: WebhookChange, manager: EventReader): Promise<Webhook> {
      return toWebhook(await database.transact(changeWebhook, { publicId, manager, change }), ids);
    },

    /** Creates a new secret. The old secret still signs messages for 24 h. */
    async rotateSecret(publicId: string, manager: EventReader): Promise<SecretWebhook> {
      const secret = generateSecret();
      const sealed = box.seal(secret, publicId);
      const row = await database.transact(rotateSecret, { publicId, manager, secret: sealed });
      return { ...toWebhook(row, ids), secret: writeSecret(secret) };
    },

    /** Requests a ping and returns its id. If a ping waits already, returns its id. Throws `limit_reached`. */
    ping(publicId: string, manager: EventReader): Promise<string> {
      const request = { messageId: `ping_${randomText(16)}`, position: 0n };
      return database.transact(requestMessage, { publicId, manager, ...request });
    },

    /**
     * Requests that an event is sent once more, beside the feed. Throws `limit_reached`, `invalid_body` for an event
     * that the webhook may not receive, and `events_expired` for one that is deleted.
     */
    async send(publicId: string, eventId: string, manager: EventReader): Promise<void> {
      const request = { messageId: eventId, position: readEventId(eventId, ids) };
      await database.transact(requestMessage, { publicId, manager, ...request });
    },

    /** Returns the last 100 attempts of the last 7 days, newest first. Throws `not_found`. */
    listAttempts: async (id: string, accountId: bigint): Promise<readonly Attempt[]> =>
      listAttempts(database, (await findWebhook(database, id, accountId)).id),

    remove: (publicId: string, manager: EventReader): Promise<void> =>
      database.transact(removeWebhook, { publicId, manager }),
  };
}

async function findWebhook(database: Database, publicId: string, accountId: bigint): Promise<WebhookRow> {
  const [row] = await database.read(selectWebhook, { publicId });
  if (row?.account_id !== accountId) throw webhookNotFound();
  return row;
}

function toNewRow(
  { url, types, keyId }: WebhookOrder,
  reader: EventReader,
  publicId: string,
  secret: Uint8Array,
) {
  for (const type of types ?? []) requireReadable(type, reader);
  const sent = types ?? listReadableTypes(reader);
  if (sent.length === 0) throw new AppError('scope_missing', 'this API key may not read any events');
  return {
    publicId,
    accountId: reader.accountId,
    keyId,
    url,
    types: sent.join(' '),
    seesPets: reader.seesPets ? 1n : 0n,
    seesOrders: reader.seesOrders,
    secret,
  };
}
