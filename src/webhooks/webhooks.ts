import { notFound } from '../errors.ts';
import type { EventType } from '../events/event.ts';
import type { EventIds } from '../events/event-ids.ts';
import { type EventReader, listReadableTypes } from '../events/event-reader.ts';
import { randomText } from '../random-text.ts';
import type { Database } from '../storage/database.ts';
import { readPage } from '../storage/read-page.ts';
import { listAttempts } from './attempt-rows.ts';
import {
  addWebhook,
  changeWebhook,
  removeWebhook,
  requireCover,
  rotateSecret,
  scopeMissing,
  type WebhookChange,
  type WebhookManager,
} from './change-webhook.ts';
import { requestMessage } from './requested-messages.ts';
import type { SecretBox } from './secret-box.ts';
import { generateSecret, writeSecret } from './sign-message.ts';
import { readEventId, toWebhook } from './webhook.ts';
import { type ListedWebhookRow, selectWebhookPage, type WebhookRow } from './webhook-rows.ts';

export interface WebhookOrder {
  readonly url: string;
  /** Null means all types that the key may read. */
  readonly types: readonly EventType[] | null;
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/** The webhooks of accounts. Those of another account are `not_found`. Throws the errors of change-webhook.ts. */
export function createWebhooks(database: Database, ids: EventIds, box: SecretBox) {
  async function withSecret(publicId: string, save: (sealed: Uint8Array) => Promise<WebhookRow>) {
    const secret = generateSecret();
    const row = await save(box.seal(secret, publicId));
    return { ...toWebhook(row, ids), secret: writeSecret(secret) };
  }

  return {
    async add(order: WebhookOrder, maker: WebhookManager) {
      const row = toNewRow(order, maker);
      return await withSecret(row.public_id, (secret) =>
        database.transact(addWebhook, { ...row, secret, nowMs: maker.nowMs }, maker.accountId),
      );
    },

    list: (accountId: bigint, limit: number, newestId: bigint | null) =>
      readPage(database, selectWebhookPage, { accountId, limit, newestId }, (row) => toWebhook(row, ids)),

    get: async (publicId: string, accountId: bigint) =>
      toWebhook(await findRow(database, { publicId, accountId }), ids),

    change: async (publicId: string, change: WebhookChange, manager: WebhookManager) =>
      toWebhook(
        await database.transact(changeWebhook, { publicId, manager, change }, manager.accountId),
        ids,
      ),

    rotateSecret: (publicId: string, manager: WebhookManager) =>
      withSecret(publicId, (secret) =>
        database.transact(rotateSecret, { publicId, manager, secret }, manager.accountId),
      ),

    /** Requests a ping and returns its id, or that of a ping that waits already. */
    ping(publicId: string, manager: WebhookManager): Promise<string> {
      const messageId = `ping_${randomText(16)}`;
      return database.transact(
        requestMessage,
        { publicId, manager, messageId, position: 0n },
        manager.accountId,
      );
    },

    async send(publicId: string, eventId: string, manager: WebhookManager): Promise<void> {
      const message = { messageId: eventId, position: readEventId(eventId, ids) };
      await database.transact(requestMessage, { publicId, manager, ...message }, manager.accountId);
    },

    async listAttempts(publicId: string, reader: EventReader) {
      const row = await findRow(database, { publicId, accountId: reader.accountId });
      requireCover(reader, row);
      return await listAttempts(database, row.id);
    },

    remove: (publicId: string, manager: WebhookManager): Promise<void> =>
      database.transact(removeWebhook, { publicId, manager }, manager.accountId),
  };
}

/** Throws `scope_missing` if the maker may not read all types, or none. */
function toNewRow({ url, types }: WebhookOrder, maker: WebhookManager) {
  const readable = listReadableTypes(maker);
  const foreign = types?.find((type) => !readable.includes(type));
  if (foreign !== undefined) throw scopeMissing(`types: this API key may not read ${foreign}`);
  const chosen = types ?? readable;
  if (chosen.length === 0) throw scopeMissing('this API key may not read any events');
  return {
    public_id: `wh_${randomText(16)}`,
    account_id: maker.accountId,
    key_id: maker.keyId,
    url,
    types: chosen.join(' '),
    sees_pets: maker.seesPets ? 1n : 0n,
    sees_orders: maker.seesOrders,
  };
}

type OneWebhook = { readonly publicId: string; readonly accountId?: bigint };

/** Returns the webhook with this id, of one account or of any. Undefined if there is none. */
export async function selectOne(
  database: Database,
  filter: OneWebhook,
): Promise<ListedWebhookRow | undefined> {
  return (await readPage(database, selectWebhookPage, { ...filter, limit: 1 }, (row) => row)).items[0];
}

/** Like `selectOne`, but throws `not_found` if there is none. */
export async function findRow(database: Database, filter: OneWebhook): Promise<ListedWebhookRow> {
  const row = await selectOne(database, filter);
  if (row === undefined) throw notFound('webhookId', 'webhook');
  return row;
}
