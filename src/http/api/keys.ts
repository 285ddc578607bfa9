import Type, { type Static } from 'typebox';
import { scopes } from '../../accounts/account.ts';
import { keyIdPattern } from '../../accounts/api-key.ts';
import type { ListedKey } from '../../accounts/key-rows.ts';
import { defaultOverlapMs } from '../../accounts/keyring.ts';
import { secondMs } from '../../clock.ts';
import { toTime } from '../../format.ts';
import {
  enumField,
  namedObject,
  nameField,
  nullable,
  openEnum,
  timeField,
  wholeNumberField,
} from '../../schema.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { answer, definePages, defineParameter, example, openPage, reply } from './parts.ts';

const lifetimeSecondsMax = 2_147_483_647;
export const overlapSecondsMax = 2_592_000;

export function keyIdField(description: string) {
  return Type.String({ minLength: 20, maxLength: 20, pattern: keyIdPattern, description });
}

const ScopeSchema = enumField(scopes, 'What a key may do.', {
  title: 'Scope',
  about: 'What an API key may do.',
});

/** The bounds of a list of scopes. They do not follow the number of scopes. */
const scopesBounds = { minItems: 1, maxItems: 100, uniqueItems: true };

const keyName = 'The name of the key, for people.';

export const CallingKeySchema = namedObject('CallingKey', 'The calling API key.', {
  id: keyIdField('Identifier of the key.'),
  name: nullable(nameField(keyName, 'Warehouse')),
  scopes: Type.Array(openEnum(ScopeSchema), { ...scopesBounds, description: 'What the key may do.' }),
  expiresAt: nullable(timeField('When the key ends; null: it never expires.')),
});

const KeySchema = namedObject('ApiKey', 'An API key of the account.', {
  ...CallingKeySchema.properties,
  start: Type.String({
    minLength: 8,
    maxLength: 16,
    pattern: '^as_(dev|stg|live)_[0-9A-Za-z]{4}$',
    description: 'The start of the text of the key, to distinguish keys.',
  }),
  state: openEnum(
    enumField(
      ['active', 'rotated', 'expired'],
      '`rotated`: replaced by another key, but valid until `expiresAt`.',
      { title: 'ApiKeyState', about: 'The state of an API key.' },
    ),
  ),
  createdAt: timeField('When the key was created.'),
  lastUsedAt: nullable(timeField('When the key was last used, to the minute; null: never.')),
});

export const NewKeySchema = namedObject('NewApiKey', 'The properties of a new API key.', {
  name: Type.Optional(nameField(keyName, 'Warehouse')),
  scopes: Type.Array(ScopeSchema, {
    ...scopesBounds,
    rule: `must be an array of one or more of ${scopes.join(', ')}, each once`,
    description: 'The scopes of the key. The calling key must have or cover them.',
  }),
  expiresInSeconds: Type.Optional(
    wholeNumberField('How many seconds the key is valid. Default: it ends when the calling key ends.', {
      minimum: 1,
      maximum: lifetimeSecondsMax,
    }),
  ),
});

const KeyRotationSchema = namedObject('ApiKeyRotation', 'How to rotate an API key.', {
  overlapSeconds: Type.Optional(
    wholeNumberField('How many seconds the old key stays valid; 86400 by default. 0 ends it at once.', {
      minimum: 0,
      maximum: overlapSecondsMax,
    }),
  ),
});

const IssuedKeySchema = namedObject('IssuedApiKey', 'A new API key with its text.', {
  ...KeySchema.properties,
  key: Type.String({
    minLength: 35,
    maxLength: 36,
    pattern: '^as_(dev|stg|live)_[0-9A-Za-z]{28}$',
    description: 'The text of the key. It is not stored and cannot be shown again.',
  }),
});

export function toPartnerKey(key: ListedKey): Static<typeof KeySchema> {
  return {
    id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    expiresAt: toTime(key.expiresAtMs),
    start: key.visibleStart,
    state: key.state === 'revoked' ? 'expired' : key.state,
    createdAt: new Date(key.createdAtMs).toISOString(),
    lastUsedAt: toTime(key.lastUsedAtMs),
  };
}

export const callingKey = {
  id: 'key_3kTMd8fZq1LxW0aB',
  name: 'Warehouse',
  scopes: ['pets:read', 'orders:read', 'orders:write'],
  expiresAt: null,
};

const tooManyKeys = 'this account has 25 or more active keys; delete a key first';
const newKey = { name: 'Warehouse', scopes: ['orders:read', 'orders:write'], expiresInSeconds: 2_592_000 };

const listedKey = {
  ...callingKey,
  start: 'as_live_7Qp1',
  state: 'active',
  createdAt: '2027-01-02T11:40:00.000Z',
  lastUsedAt: '2027-01-02T12:00:00.000Z',
};

/** The checksums in the texts are wrong on purpose, so that secret scanners do not report the keys. */
const createdKey = {
  ...listedKey,
  id: 'key_9bWx4LcR2nTq7YvE',
  scopes: newKey.scopes,
  expiresAt: '2027-02-01T11:40:00.000Z',
  start: 'as_live_5Hs8',
  lastUsedAt: null,
  key: 'as_live_5Hs8RmVx2cLw9tYb4NkDsExample',
};
const rotatedKey = {
  ...listedKey,
  id: 'key_6pJd1ZsF8mKu3GhC',
  start: 'as_live_2Tn6',
  createdAt: '2027-01-02T12:05:00.000Z',
  lastUsedAt: null,
  key: 'as_live_2Tn6WqYe5aHc8kMz3BvPrExample',
};

const keyId = defineParameter(
  'keyId',
  'key',
  { ...keyIdField('Identifier of the key.'), examples: [callingKey.id] },
  (text) => text,
);

export const keyOperations: readonly Operation[] = [
  defineOperation('listKeys', 'GET /keys', 'keys:manage', {
    guide: 'authentication',
    summary: 'List keys',
    description:
      'Returns a paginated list of the keys of the account, newest first, without their text. Deleted keys are not listed. Follow the `Link` with `rel="next"` until there is none.',
    ...definePages('keys', {
      item: KeySchema,
      cursor: 'BWtleV8za1RNZDhmWnExTHhXMGFCd4Bq0x3mLk9sVg',
      examples: { page: example('One key', [listedKey]) },
    }),

    async handle({ query, caller }, services) {
      const { accountId } = caller;
      const page = openPage<string>({ path: '/keys', of: accountId }, query, services);
      const { items, next } = await services.keyringOf(caller).listPage(accountId, page.limit, page.start);
      return { status: 200, body: items.map(toPartnerKey), headers: page.linkTo(next) };
    },
  }),

  defineOperation('createKey', 'POST /keys', 'keys:manage', {
    guide: 'authentication',
    summary: 'Create a key',
    description:
      'Creates a key for the account. Its text, `key`, is shown only once. A key can grant only the scopes that it has or covers, and the new key expires no later than the calling key. An account can have 25 active keys. An `Idempotency-Key` is ignored, because the text of the key is not stored.',
    body: NewKeySchema,
    bodyExamples: {
      complete: example('All fields', newKey),
      least: example('Required fields', { scopes: ['pets:read'] }),
    },
    isNeverStored: true,
    answers: answer(201, 'The key is created.', IssuedKeySchema, {
      issued: example('The new key', createdKey),
    }),
    failures: { limit_reached: tooManyKeys },

    async handle({ body: { name = null, scopes, expiresInSeconds }, caller }, { keyringOf }) {
      const lifetimeMs = expiresInSeconds === undefined ? null : Number(expiresInSeconds) * secondMs;
      const made = await keyringOf(caller).create({ name, scopes, lifetimeMs });
      return { status: 201, body: { ...toPartnerKey(made), key: made.key } };
    },
  }),

  defineOperation('rotateKey', 'POST /keys/{keyId}/rotate', 'keys:manage', {
    guide: 'authentication',
    summary: 'Rotate a key',
    isDrastic: true,
    description:
      'Replaces a key by a new one with the same name, scopes and lifetime. The old key stays valid for `overlapSeconds`, 86400 by default. The new text, `key`, is shown only once. If it was lost, rotate the old key again: a new key that was never used is replaced, and the new one ends when the old key would have ended without rotation. A key can rotate only keys whose scopes it has or covers, and the new key expires no later than the calling key, or than its end before it was rotated. The body is optional. An `Idempotency-Key` is ignored.',
    params: keyId,
    body: KeyRotationSchema,
    isBodyOptional: true,
    bodyExamples: {
      default: example('The old key works for a day', {}),
      atOnce: example('The old key ends at once', { overlapSeconds: 0 }),
    },
    isNeverStored: true,
    answers: answer(201, 'The key that takes the place of the old one.', IssuedKeySchema, {
      issued: example('The new key', rotatedKey),
    }),
    failures: {
      limit_reached: tooManyKeys,
      key_rotated:
        'keyId: this key is already rotated, and the key that replaced it was used; rotate that key instead',
    },

    async handle({ params, body, caller }, { keyringOf }) {
      const overlapSeconds = body?.overlapSeconds;
      const overlapMs = overlapSeconds === undefined ? defaultOverlapMs : Number(overlapSeconds) * secondMs;
      const made = await keyringOf(caller).rotate(keyId.read(params), overlapMs);
      return { status: 201, body: { ...toPartnerKey(made), key: made.key } };
    },
  }),

  defineOperation('deleteKey', 'DELETE /keys/{keyId}', 'keys:manage', {
    guide: 'authentication',
    summary: 'Delete a key',
    isDrastic: true,
    description:
      'Ends a key of the account for good; the calling key may delete itself. It takes effect within 2 s, 5 s across instances. A deleted key is no longer listed.',
    params: keyId,
    answers: answer(204, 'The key is deleted.'),

    handle: async ({ params, caller }, { keyringOf }) =>
      reply(204, keyringOf(caller).revoke(keyId.read(params))),
  }),
];
