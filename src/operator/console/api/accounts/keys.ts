import Type from 'typebox';
import { NewKeySchema } from '../../../../accounts/key.ts';
import { secondMs } from '../../../../clock.ts';
import { wholeNumberField } from '../../../../schema.ts';
import { defineConsoleOperation } from '../../operation.ts';
import { findAccount } from './find-account.ts';

/** Creates a key for an account. Only this response contains the text of the key. */
export const createKey = defineConsoleOperation({
  method: 'POST',
  path: '/accounts/{account}/keys',
  body: NewKeySchema,

  async handle({ params, body: { name = null, scopes, expiresInSeconds }, signedIn }, { actAs, database }) {
    const { account } = await findAccount(database, params['account']);
    const lifetimeMs = expiresInSeconds === undefined ? null : Number(expiresInSeconds) * secondMs;
    const { keyring } = actAs(signedIn);
    const issued = await keyring.issue({ account, plan: null, name, scopes, lifetimeMs });
    return { id: issued.id, key: issued.key };
  },
});

const overlapSecondsMax = 2_592_000;

/** Replaces a key with a new one. The old key stays valid for `overlapSeconds`. */
export const rotateKey = defineConsoleOperation({
  method: 'POST',
  path: '/keys/{keyId}/rotate',
  body: Type.Object({
    overlapSeconds: wholeNumberField('How long the old key stays valid.', {
      minimum: 0,
      maximum: overlapSecondsMax,
    }),
  }),

  async handle({ params, body: { overlapSeconds }, signedIn }, { actAs }) {
    const overlapMs = Number(overlapSeconds) * secondMs;
    const issued = await actAs(signedIn).keyring.rotate(params['keyId'] ?? '', overlapMs);
    return { id: issued.id, key: issued.key, oldEndsAtMs: issued.oldEndsAtMs };
  },
});

/** Revokes a key. With `disableWebhooks`, also disables the webhooks that the key created. */
export const revokeKey = defineConsoleOperation({
  method: 'POST',
  path: '/keys/{keyId}/revoke',
  body: Type.Object({ disableWebhooks: Type.Boolean({ rule: 'must be true or false' }) }),

  async handle({ params: { keyId = '' }, body: { disableWebhooks }, signedIn }, { actAs }) {
    const { keyring, allWebhooks } = actAs(signedIn);
    await keyring.revoke(keyId);
    if (disableWebhooks) await allWebhooks.disableOfKey(keyId);
  },
});
