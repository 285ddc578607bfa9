import Type from 'typebox';
import { secondMs } from '../../../clock.ts';
import { NewKeySchema, overlapSecondsMax } from '../../../http/api/keys.ts';
import { wholeNumberField } from '../../../schema.ts';
import { answers } from '../answers.ts';
import { operation, pageRows } from '../operation.ts';

const overlapBounds = { minimum: 0, maximum: overlapSecondsMax };
const rotateFields = { overlapSeconds: wholeNumberField('How long the old key stays valid.', overlapBounds) };
const revokeFields = { disableWebhooks: Type.Boolean({ rule: 'must be true or false' }) };
const banFields = {
  before: Type.Optional(Type.String({ maxLength: 60, pattern: '^\\d{1,15}\\.key_[0-9A-Za-z]{16}$' })),
};

export const keyOperations = [
  /** Creates a key for an account. Only this response contains the text of the key. */
  operation(
    'createKey',
    'POST /accounts/{account}/keys',
    'admin',
    {
      summary: 'Create a key for an account',
      fields: NewKeySchema.properties,
      answer: answers.newKey,
    },
    async (body, { keyring }) => {
      const { account, name = null, scopes, expiresInSeconds } = body;
      const lifetimeMs = expiresInSeconds === undefined ? null : Number(expiresInSeconds) * secondMs;
      const { id, key } = await keyring.issue({ account, plan: null, name, scopes, lifetimeMs });
      return { id, key };
    },
  ),

  operation(
    'rotateKey',
    'POST /keys/{keyId}/rotate',
    'admin',
    {
      summary: 'Replace a key by a new one',
      fields: rotateFields,
      answer: answers.rotatedKey,
    },
    async ({ keyId, overlapSeconds }, { keyring }) => {
      const { id, key, oldEndsAtMs } = await keyring.rotate(keyId, Number(overlapSeconds) * secondMs);
      return { id, key, oldEndsAtMs };
    },
  ),

  operation(
    'revokeKey',
    'POST /keys/{keyId}/revoke',
    'admin',
    { summary: 'Revoke a key', fields: revokeFields },
    async (body, { keyring, allWebhooks }) => {
      await keyring.revoke(body.keyId);
      if (body.disableWebhooks) await allWebhooks.disableOfKey(body.keyId);
    },
  ),

  /** Returns a page of the current bans; the ban that expires first comes first. `before` is the `next` of a page. */
  operation(
    'listBans',
    'GET /bans',
    'reader',
    { summary: 'List the banned keys', fields: banFields, answer: answers.bans },
    async ({ before = '0.' }, { bans, clock }) => {
      const [endsAtMs = '', firstId = ''] = before.split('.');
      const { items, next } = await bans.listPage(pageRows, { endsAtMs: Number(endsAtMs), keyId: firstId });
      const shown = items.map(({ keyId: id, visibleStart: start, keyName: name, ...ban }) => ({
        ...ban,
        id,
        start,
        name,
      }));
      return { items: shown, next: next && `${next.endsAtMs}.${next.keyId}`, nowMs: clock() };
    },
  ),

  operation(
    'liftBan',
    'POST /keys/{keyId}/lift-ban',
    'support',
    { summary: 'Lift the ban of a key' },
    ({ keyId }, { bans }) => bans.lift(keyId),
  ),
];
