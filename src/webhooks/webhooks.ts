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
import { type Attempt, readEventId, type SecretWebhook, toWebhook, type Webhook } from './webhook.ts';
import {
  type ListedWebhookRow,
  readWebhookPage,
  type WebhookFilter,
  type WebhookRow,
} from './webhook-rows.ts';

export interface WebhookOrder {
  readonly url: string;
  /** Null means all types that the key may read. */
  readonly types: readonly EventType[] | null;
  readonly keyId: string;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/**
 * The webhooks of accounts. A reader sees only the webhooks of its account; other webhooks are `not_found`. A change
 * throws `scope_missing` if the webhook receives events that the reader may not read, and the errors of its transaction
 * (change-webhook.ts).
 */
export function createWebhooks(database: Database, ids: EventIds, box: SecretBox) {
  /** Creates a secret and saves it with the function `save`. */
  async function withSecret(
    publicId: string,
    save: (sealed: Uint8Array) => Promise<WebhookRow>,
  ): Promise<SecretWebhook> {
    const secret = generateSecret();
    const row = await save(box.seal(secret, publicId));
    return { ...toWebhook(row, ids), secret: writeSecret(secret) };
  }

  return {
    /** Creates a webhook that starts at the end of the feed. */
    async add(order: WebhookOrder, reader: EventReader): Promise<SecretWebhook> {
      const row = toNewRow(order, reader);
      return await withSecret(row.public_id, (secret) => database.transact(addWebhook, { ...row, secret }));
    },

    /** Returns at most `limit` webhooks with row ids up to `newestId`. Null starts with the newest webhook. */
    async list(accountId: bigint, limit: number, newestId: bigint | null): Promise<Page<Webhook>> {
      const rows = await readWebhookPage(database, { accountId }, limit, newestId);
      return toPage(rows, limit, (row) => toWebhook(row, ids));
    },

    get: async (publicId: string, accountId: bigint): Promise<Webhook> =>
      toWebhook(await findWebhook(database, { publicId, accountId }), ids),

    change: async (publicId: string, change: WebhookChange, manager: EventReader): Promise<Webhook> =>
      toWebhook(await database.transact(changeWebhook, { publicId, manager, change }), ids),

    /** Creates a new secret. The old secret still signs messages for 24 h. */
    rotateSecret: (publicId: string, manager: EventReader): Promise<SecretWebhook> =>
      withSecret(publicId, (secret) => database.transact(rotateSecret, { publicId, manager, secret })),

    /** Requests a ping and returns its id. If a ping waits already, returns its id. */
    async ping(publicId: string, manager: EventReader): Promise<string> {
      const request = { messageId: `ping_${randomText(16)}`, position: 0n };
      return await database.transact(requestMessage, { publicId, manager, ...request });
    },

    /** Requests that an event is sent once more, beside the feed. */
    async send(publicId: string, eventId: string, manager: EventReader): Promise<void> {
      const request = { messageId: eventId, position: readEventId(eventId, ids) };
      await database.transact(requestMessage, { publicId, manager, ...request });
    },

    /** Returns the last 100 attempts of the last 7 days, newest first. */
    listAttempts: async (publicId: string, accountId: bigint): Promise<readonly Attempt[]> =>
      listAttempts(database, (await findWebhook(database, { publicId, accountId })).id),

    remove: (publicId: string, manager: EventReader): Promise<void> =>
      database.transact(removeWebhook, { publicId, manager }),
  };
}

/** Throws `not_found`. */
export async function findWebhook(
  database: Database,
  filter: Partial<WebhookFilter>,
): Promise<ListedWebhookRow> {
  const [row] = await readWebhookPage(database, filter, 1, null);
  if (row === undefined) throw webhookNotFound();
  return row;
}

/** Throws `scope_missing` if the reader may not read all types, or none. */
function toNewRow({ url, types, keyId }: WebhookOrder, reader: EventReader) {
  for (const type of types ?? []) requireReadable(type, reader);
  const chosen = types ?? listReadableTypes(reader);
  if (chosen.length === 0) throw new AppError('scope_missing', 'this API key may not read any events');
  return {
    public_id: `wh_${randomText(16)}`,
    account_id: reader.accountId,
    key_id: keyId,
    url,
    types: chosen.join(' '),
    sees_pets: reader.seesPets ? 1n : 0n,
    sees_orders: reader.seesOrders,
  };
}
