import Type from 'typebox';
import { keyNotFound } from '../../accounts/key-changes.ts';
import { toPartnerKey } from '../../accounts/key-state.ts';
import { defaultOverlapMs, type IssuedKey } from '../../accounts/keyring.ts';
import {
  IssuedKeySchema,
  KeyRotationSchema,
  KeySchema,
  keyIdField,
  NewKeySchema,
} from '../../accounts/schemas.ts';
import { secondMs } from '../../clock.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { definePages, openPage } from './paging.ts';

/** The calling key in examples. */
export const callingKey = {
  id: 'key_3kTMd8fZq1LxW0aB',
  name: 'Warehouse',
  scopes: ['pets:read', 'orders:read', 'orders:write'],
  expiresAt: null,
};

const listedKey = {
  ...callingKey,
  start: 'as_live_7Qp1',
  state: 'active',
  createdAt: '2027-01-02T11:40:00.000Z',
  lastUsedAt: '2027-01-02T12:00:00.000Z',
};

/** The checksum in the text is wrong on purpose, so that secret scanners do not report the key. */
const issuedKey = { ...listedKey, lastUsedAt: null, key: 'as_live_7Qp1RmVx2cLw9tYb4NkDsExample' };

const KeyParams = Type.Object({
  keyId: { ...keyIdField('Identifier of the key.'), examples: [callingKey.id] },
});

const listKeys = defineOperation({
  id: 'listKeys',
  method: 'GET',
  path: '/keys',
  scope: 'keys:manage',
  summary: 'List keys',
  description:
    'Returns a paginated list of the keys of the account, newest first, without their text. Deleted keys are not listed. Follow the `Link` with `rel="next"` until there is none.',
  ...definePages('keys', {
    item: KeySchema,
    cursor: 'BWtleV8za1RNZDhmWnExTHhXMGFCd4Bq0x3mLk9sVg',
    examples: { page: { summary: 'One key', value: [listedKey] } },
  }),

  async handle({ query, caller: { accountId, keyId } }, services) {
    const page = openPage<string>({ path: '/keys', of: accountId }, query, services);
    const { items, next } = await services.keyringOf(keyId).listPage(accountId, page.limit, page.start);
    return { status: 200, body: items.map(toPartnerKey), headers: page.linkTo(next) };
  },
});

const createKey = defineOperation({
  id: 'createKey',
  method: 'POST',
  path: '/keys',
  scope: 'keys:manage',
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
  failures: { limit_reached: 'this account has 25 or more active keys; delete a key first' },

  async handle({ body: { name = null, scopes, expiresInSeconds }, caller }, { keyringOf }) {
    const lifetimeMs = expiresInSeconds === undefined ? null : Number(expiresInSeconds) * secondMs;
    const issued = await keyringOf(caller.keyId).create({ name, scopes, lifetimeMs });
    return { status: 201, body: toIssuedKey(issued) };
  },
});

const rotateKey = defineOperation({
  id: 'rotateKey',
  method: 'POST',
  path: '/keys/{keyId}/rotate',
  scope: 'keys:manage',
  summary: 'Rotate a key',
  description:
    'Replaces a key by a new one with the same name, scopes and lifetime. The old key stays valid for `overlapSeconds`, 86400 by default. The new text, `key`, is shown only once. If it was lost, rotate the old key again: a new key that was never used is replaced, and the new one ends when the old key would have ended without rotation. A key can rotate only keys whose scopes it has or covers, and the new key expires no later than the calling key, or than its end before it was rotated. The body is optional. An `Idempotency-Key` is ignored.',
  params: KeyParams,
  body: KeyRotationSchema,
  isBodyOptional: true,
  bodyExamples: {
    default: { summary: 'The old key works for a day', value: {} },
    atOnce: { summary: 'The old key ends at once', value: { overlapSeconds: 0 } },
  },
  isNeverStored: true,
  answers: {
    201: {
      description: 'The key that takes the place of the old one.',
      body: IssuedKeySchema,
      examples: { issued: { summary: 'The new key', value: issuedKey } },
    },
  },
  failures: {
    not_found: keyNotFound().message,
    key_rotated:
      'keyId: this key is already rotated, and the key that replaced it was used; rotate that key instead',
  },

  async handle({ params: { keyId = '' }, body, caller }, { keyringOf }) {
    const overlapSeconds = body?.overlapSeconds;
    const overlapMs = overlapSeconds === undefined ? defaultOverlapMs : Number(overlapSeconds) * secondMs;
    return { status: 201, body: toIssuedKey(await keyringOf(caller.keyId).rotate(keyId, overlapMs)) };
  },
});

const deleteKey = defineOperation({
  id: 'deleteKey',
  method: 'DELETE',
  path: '/keys/{keyId}',
  scope: 'keys:manage',
  summary: 'Delete a key',
  description:
    'Ends a key of the account for good; the calling key may delete itself. It takes effect within 2 s, 5 s across instances. A deleted key is no longer listed.',
  params: KeyParams,
  answers: { 204: { description: 'The key is deleted.' } },
  failures: { not_found: keyNotFound().message },

  async handle({ params: { keyId = '' }, caller }, { keyringOf }) {
    await keyringOf(caller.keyId).revoke(keyId);
    return { status: 204 };
  },
});

function toIssuedKey(issued: IssuedKey) {
  return { ...toPartnerKey(issued), key: issued.key };
}

/** The operations on the keys of an account. */
export const keyOperations: readonly Operation[] = [listKeys, createKey, rotateKey, deleteKey];
