import Type from 'typebox';
import { NewKeySchema, overlapSecondsMax } from '../../../accounts/schemas.ts';
import { secondMs } from '../../../clock.ts';
import { wholeNumberField } from '../../../schema.ts';
import { defineConsoleOperation } from '../operation.ts';
import { pageRows } from './fields.ts';

/** Creates a key for an account. Only this response contains the text of the key. */
const createKey = defineConsoleOperation({
  method: 'POST',
  path: '/accounts/{account}/keys',
  body: NewKeySchema,

  async handle({ params: { account = '' }, body, changes }) {
    const { name = null, scopes, expiresInSeconds } = body;
    const lifetimeMs = expiresInSeconds === undefined ? null : Number(expiresInSeconds) * secondMs;
    const { id, key } = await changes.keyring.issue({ account, plan: null, name, scopes, lifetimeMs });
    return { id, key };
  },
});

/** Replaces a key with a new one. The old key stays valid for `overlapSeconds`. */
const rotateKey = defineConsoleOperation({
  method: 'POST',
  path: '/keys/{keyId}/rotate',
  body: Type.Object({
    overlapSeconds: wholeNumberField('How long the old key stays valid.', {
      minimum: 0,
      maximum: overlapSecondsMax,
    }),
  }),

  async handle({ params: { keyId = '' }, body: { overlapSeconds }, changes }) {
    const { id, key, oldEndsAtMs } = await changes.keyring.rotate(keyId, Number(overlapSeconds) * secondMs);
    return { id, key, oldEndsAtMs };
  },
});

/** Revokes a key. With `disableWebhooks`, also disables the webhooks that the key created. */
const revokeKey = defineConsoleOperation({
  method: 'POST',
  path: '/keys/{keyId}/revoke',
  body: Type.Object({ disableWebhooks: Type.Boolean({ rule: 'must be true or false' }) }),

  async handle({ params: { keyId = '' }, body: { disableWebhooks }, changes }) {
    await changes.keyring.revoke(keyId);
    if (disableWebhooks) await changes.allWebhooks.disableOfKey(keyId);
  },
});

/** Returns a page of the current bans; the ban that expires first comes first. `before` is the `next` of a page. */
const listBans = defineConsoleOperation({
  method: 'GET',
  path: '/bans',
  query: Type.Object({
    before: Type.Optional(Type.String({ pattern: '^\\d{1,15}\\.key_[0-9A-Za-z]{16}$' })),
  }),

  async handle({ query: { before = '0.' } }, { bans, clock }) {
    const [endsAtMs = '', keyId = ''] = before.split('.');
    const page = await bans.listPage(pageRows, { endsAtMs: Number(endsAtMs), keyId });
    return {
      items: page.items.map(({ keyId: id, visibleStart: start, keyName: name, ...ban }) => ({
        ...{ id, start, name },
        ...ban,
      })),
      next: page.next && `${page.next.endsAtMs}.${page.next.keyId}`,
      nowMs: clock(),
    };
  },
});

const liftBan = defineConsoleOperation({
  method: 'POST',
  path: '/keys/{keyId}/lift-ban',
  handle: ({ params: { keyId = '' }, changes }) => changes.bans.lift(keyId),
});

export const keyOperations = [createKey, rotateKey, revokeKey, listBans, liftBan];
