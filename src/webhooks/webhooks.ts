import { randomText } from '../accounts/api-key.ts';
import { AppError } from '../errors.ts';
import type { EventType } from '../events/event.ts';
import type { EventIds } from '../events/event-ids.ts';
import { type EventReader, listReadableTypes } from '../events/event-reader.ts';
import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import type { Database } from '../storage/database.ts';
import { listAttempts } from './attempt-rows.ts';
import {
  addWebhook,
  changeWebhook,
  requestMessage,
  requireManaged,
  requireReadable,
  rotateSecret,
  type WebhookChange,
  webhookNotFound,
} from './change-webhook.ts';
import type { SecretBox } from './secret-box.ts';
import { generateSecret, writeSecret } from './sign-message.ts';
import { type Attempt, toAttempt, toWebhook, type Webhook } from './webhook.ts';
import { deleteWebhook, selectWebhook, selectWebhookPage } from './webhook-rows.ts';

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

/**
 * The webhooks of accounts. A reader sees only the webhooks of its account; other webhooks count as not found. Methods
 * also throw the errors of the database.
 *
 * Each change throws `not_found`. It throws `scope_missing` if the webhook receives events that the reader may not
 * read.
 */
export interface Webhooks {
  /** Creates a webhook that starts at the end of the feed. Throws `scope_missing` and `limit_reached`. */
  add(order: WebhookOrder, reader: EventReader): Promise<SecretWebhook>;
  /** Returns at most `limit` webhooks with row ids up to `newestId`. Null starts with the newest webhook. */
  list(accountId: bigint, limit: number, newestId: bigint | null): Promise<Page<Webhook>>;
  /** Throws `not_found`. */
  get(id: string, accountId: bigint): Promise<Webhook>;
  /**
   * Also throws `invalid_body` if the position is after the newest event, and `position_lost` if an event after the
   * position is deleted.
   */
  change(id: string, change: WebhookChange, reader: EventReader): Promise<Webhook>;
  /** Creates a new secret. The old secret still signs messages for 24 h. */
  rotateSecret(id: string, reader: EventReader): Promise<SecretWebhook>;
  /** Requests a ping and returns its id. If a ping waits already, returns its id. Throws `limit_reached`. */
  ping(id: string, reader: EventReader): Promise<string>;
  /**
   * Requests that an event is sent once more, beside the feed. Throws `limit_reached`, `invalid_body` for an event that
   * the webhook may not receive, and `events_expired` for one that is deleted.
   */
  send(id: string, eventId: string, reader: EventReader): Promise<void>;
  /** Returns the last 100 attempts of the last 7 days, newest first. Throws `not_found`. */
  listAttempts(id: string, accountId: bigint): Promise<readonly Attempt[]>;
  remove(id: string, reader: EventReader): Promise<void>;
}

/** The position of an event id that this service did not create. */
const unknownPosition = -1n;

export function createWebhooks(database: Database, ids: EventIds, box: SecretBox): Webhooks {
  return {
    async add(order, reader) {
      const secret = generateSecret();
      const publicId = `wh_${randomText(16)}`;
      const sealed = box.seal(secret, publicId);
      const row = await database.transact(addWebhook, toNewRow(order, reader, publicId, sealed));
      return { ...toWebhook(row, ids), secret: writeSecret(secret) };
    },

    list: (accountId, limit, newestId) => listWebhooks(database, ids, accountId, limit, newestId),

    async get(id, accountId) {
      const [row] = await database.read(selectWebhook, { publicId: id, accountId });
      if (row === undefined) throw webhookNotFound();
      return toWebhook(row, ids);
    },

    async change(id, change, reader) {
      const name = toName(id, reader);
      return toWebhook(await database.transact(changeWebhook, { name, reader, change }), ids);
    },

    async rotateSecret(id, reader) {
      const name = toName(id, reader);
      const secret = generateSecret();
      const row = await database.transact(rotateSecret, { name, reader, secret: box.seal(secret, id) });
      return { ...toWebhook(row, ids), secret: writeSecret(secret) };
    },

    ping(id, reader) {
      const request = { messageId: `ping_${randomText(16)}`, position: 0n };
      return database.transact(requestMessage, { name: toName(id, reader), reader, ...request });
    },

    async send(id, eventId, reader) {
      const request = { messageId: eventId, position: ids.read(eventId) || unknownPosition };
      await database.transact(requestMessage, { name: toName(id, reader), reader, ...request });
    },

    async listAttempts(id, accountId) {
      const [row] = await database.read(selectWebhook, { publicId: id, accountId });
      if (row === undefined) throw webhookNotFound();
      return (await listAttempts(database, row.id)).map(toAttempt);
    },

    async remove(id, reader) {
      const name = toName(id, reader);
      const [row] = await database.read(selectWebhook, name);
      requireManaged(row, reader);
      const deleted = await database.run(deleteWebhook, name);
      if (deleted.length === 0) throw webhookNotFound();
    },
  };
}

async function listWebhooks(
  database: Database,
  ids: EventIds,
  accountId: bigint,
  limit: number,
  newestId: bigint | null,
) {
  const filter = { accountId, status: null, publicId: null };
  const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
  const rows = await database.read(selectWebhookPage(filter), { ...filter, ...range });
  return toPage(rows, limit, (row) => toWebhook(row, ids));
}

function toName(publicId: string, { accountId }: EventReader) {
  return { publicId, accountId };
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
