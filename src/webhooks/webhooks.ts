import { randomText } from '../accounts/api-key.ts';
import { AppError } from '../errors.ts';
import type { EventType } from '../events/event.ts';
import type { EventIds } from '../events/event-ids.ts';
import type { EventReader } from '../events/event-reader.ts';
import { int64Max } from '../int64.ts';
import { after, type Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import type { SecretBox } from './secret-box.ts';
import { listReadableTypes } from './sight.ts';
import { generateSecret, writeSecret } from './sign.ts';
import { toWebhook, type Webhook } from './webhook.ts';
import { deleteWebhook, requestPing, selectWebhook, selectWebhooks } from './webhook-rows.ts';
import {
  addWebhook,
  changeWebhook,
  requireManaged,
  requireReadable,
  rotateSecret,
  type WebhookChange,
  webhookNotFound,
} from './webhook-works.ts';

/** A request for a new webhook. */
export interface WebhookOrder {
  readonly url: string;
  /** Null means all that the key may read. */
  readonly types: readonly EventType[] | null;
  readonly keyId: string;
}

/** A webhook with its new secret, which nobody can read again. */
export interface SecretWebhook extends Webhook {
  readonly secret: string;
}

/** A page of webhooks, newest first, and where the next one begins; null on the last page. */
export interface WebhookPage {
  readonly webhooks: readonly Webhook[];
  readonly nextNewestId: bigint | null;
}

/**
 * The webhooks of accounts (contract section 14). For a reader, webhooks of other accounts do not exist. Each change
 * throws `not_found`, and `scope_missing` if the webhook sees events that the reader may not read. Throws as the
 * database does (database.ts).
 */
export interface Webhooks {
  /** Creates a webhook that starts at the end of the feed. Throws `scope_missing` and `limit_reached`. */
  add(order: WebhookOrder, reader: EventReader): Promise<SecretWebhook>;
  /** A page of at most `limit` webhooks up to the id `newestId`; null starts with the newest. */
  list(accountId: bigint, limit: number, newestId: bigint | null): Soon<WebhookPage>;
  /** Throws `not_found`. */
  get(id: string, accountId: bigint): Soon<Webhook>;
  /** Also throws `invalid_body` for a position that the feed never had, and `position_lost`. */
  change(id: string, change: WebhookChange, reader: EventReader): Promise<Webhook>;
  /** Creates a new secret; the old one still signs for 24 h. */
  rotateSecret(id: string, reader: EventReader): Promise<SecretWebhook>;
  /** Requests a ping. Returns the id of the ping. */
  ping(id: string, reader: EventReader): Promise<string>;
  remove(id: string, reader: EventReader): Promise<void>;
}

export function createWebhooks(database: Database, ids: EventIds, box: SecretBox): Webhooks {
  function requireRow(id: string, reader: EventReader) {
    const name = { publicId: id, accountId: reader.accountId };
    return after(database.read(selectWebhook, name), ([row]) => {
      requireManaged(row, reader);
      return name;
    });
  }

  return {
    async add(order, reader) {
      const secret = generateSecret();
      const publicId = `wh_${randomText(16)}`;
      const sealed = box.seal(secret, publicId);
      const row = await database.transact(addWebhook, toNewRow(order, reader, publicId, sealed));
      return { ...toWebhook(row, ids), secret: writeSecret(secret) };
    },

    list(accountId, limit, newestId) {
      const range = { accountId, newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
      return after(database.read(selectWebhooks, range), (rows) => ({
        webhooks: rows.slice(0, limit).map((row) => toWebhook(row, ids)),
        nextNewestId: rows[limit]?.id ?? null,
      }));
    },

    get: (id, accountId) =>
      after(database.read(selectWebhook, { publicId: id, accountId }), ([row]) => {
        if (row === undefined) throw webhookNotFound();
        return toWebhook(row, ids);
      }),

    async change(id, change, reader) {
      const name = { publicId: id, accountId: reader.accountId };
      return toWebhook(await database.transact(changeWebhook, { name, reader, change }), ids);
    },

    async rotateSecret(id, reader) {
      const name = { publicId: id, accountId: reader.accountId };
      const secret = generateSecret();
      const row = await database.transact(rotateSecret, { name, reader, secret: box.seal(secret, id) });
      return { ...toWebhook(row, ids), secret: writeSecret(secret) };
    },

    async ping(id, reader) {
      const name = await requireRow(id, reader);
      const [row] = await database.run(requestPing, { ...name, pingId: `ping_${randomText(16)}` });
      if (row?.ping_id == null) throw webhookNotFound();
      return row.ping_id;
    },

    async remove(id, reader) {
      const deleted = await database.run(deleteWebhook, await requireRow(id, reader));
      if (deleted.length === 0) throw webhookNotFound();
    },
  };
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
