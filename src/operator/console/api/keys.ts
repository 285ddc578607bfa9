import Type from 'typebox';
import { NewKeySchema, overlapSecondsMax } from '../../../accounts/schemas.ts';
import { secondMs } from '../../../clock.ts';
import { wholeNumberField } from '../../../schema.ts';
import { operation } from '../operation.ts';
import { pageRows } from './fields.ts';

const overlapBounds = { minimum: 0, maximum: overlapSecondsMax };
const rotateFields = { overlapSeconds: wholeNumberField('How long the old key stays valid.', overlapBounds) };
const revokeFields = { disableWebhooks: Type.Boolean({ rule: 'must be true or false' }) };
const banFields = { before: Type.Optional(Type.String({ pattern: '^\\d{1,15}\\.key_[0-9A-Za-z]{16}$' })) };

export const keyOperations = [
  /** Creates a key for an account. Only this response contains the text of the key. */
  operation('POST /accounts/{account}/keys', NewKeySchema.properties, async (body, { changes }) => {
    const { account, name = null, scopes, expiresInSeconds } = body;
    const lifetimeMs = expiresInSeconds === undefined ? null : Number(expiresInSeconds) * secondMs;
    const { id, key } = await changes.keyring.issue({ account, plan: null, name, scopes, lifetimeMs });
    return { id, key };
  }),

  /** Replaces a key with a new one. The old key stays valid for `overlapSeconds`. */
  operation('POST /keys/{keyId}/rotate', rotateFields, async ({ keyId, overlapSeconds }, { changes }) => {
    const { id, key, oldEndsAtMs } = await changes.keyring.rotate(keyId, Number(overlapSeconds) * secondMs);
    return { id, key, oldEndsAtMs };
  }),

  /** Revokes a key. With `disableWebhooks`, also disables the webhooks that the key created. */
  operation('POST /keys/{keyId}/revoke', revokeFields, async ({ keyId, disableWebhooks }, { changes }) => {
    await changes.keyring.revoke(keyId);
    if (disableWebhooks) await changes.allWebhooks.disableOfKey(keyId);
  }),

  /** Returns a page of the current bans; the ban that expires first comes first. `before` is the `next` of a page. */
  operation('GET /bans', banFields, async ({ before = '0.' }, { bans, clock }) => {
    const [endsAtMs = '', firstId = ''] = before.split('.');
    const { items, next } = await bans.listPage(pageRows, { endsAtMs: Number(endsAtMs), keyId: firstId });
    return {
      items: items.map(({ keyId: id, visibleStart: start, keyName: name, ...ban }) => ({
        id,
        start,
        name,
        ...ban,
      })),
      next: next && `${next.endsAtMs}.${next.keyId}`,
      nowMs: clock(),
    };
  }),

  operation('POST /keys/{keyId}/lift-ban', {}, ({ keyId }, { changes }) => changes.bans.lift(keyId)),
];
