import { IssuedKeySchema, NewKeySchema } from '../../../accounts/key.ts';
import { defineOperation } from '../../operation.ts';
import { issuedKey } from './examples.ts';

/** `POST /keys`: creates a key (contract section 15). */
export const createKey = defineOperation({
  id: 'createKey',
  method: 'POST',
  path: '/keys',
  tag: 'keys',
  scope: 'keys:manage',
  stability: 'beta',
  summary: 'Create a key',
  description:
    'Creates a key for the account. Its text, `key`, is shown only once. A key can grant only the scopes that it has or covers, and the new key expires no later than the calling key. An account can have 25 active keys. An `Idempotency-Key` is ignored, because the text of the key is not stored.',
  body: NewKeySchema,
  bodyExamples: {
    least: { summary: 'Required fields', value: { scopes: ['pets:read'] } },
    complete: {
      summary: 'All fields',
      value: { name: 'Warehouse', scopes: ['orders:read', 'orders:write'], expiresInSeconds: 2_592_000 },
    },
  },
  isNeverStored: true,
  answers: {
    201: {
      description: 'The key is created.',
      body: IssuedKeySchema,
      examples: { issued: { summary: 'The new key', value: issuedKey } },
    },
  },
  failures: ['limit_reached'],

  async handle({ body: { name = null, scopes, expiresInSeconds }, caller }, { accountKeys }) {
    const lifetimeSeconds = expiresInSeconds === undefined ? null : Number(expiresInSeconds);
    return { status: 201, body: await accountKeys.create(caller, { name, scopes, lifetimeSeconds }) };
  },
});
