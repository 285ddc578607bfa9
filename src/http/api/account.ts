import { type IssuedKey, keyNotFound } from '../../accounts/key-changes.ts';
import { toTime } from '../../accounts/key-rows.ts';
import { defaultOverlapMs } from '../../accounts/keyring.ts';
import {
  AccountSchema,
  IssuedKeySchema,
  KeyRotationSchema,
  KeySchema,
  keyIdField,
  NewKeySchema,
  toPartnerKey,
} from '../../accounts/schemas.ts';
import { secondMs } from '../../clock.ts';
import { measureWindows, type WindowLeft } from '../../limits/rules/decision.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { answer, definePages, defineParameter, example, openPage } from './parts.ts';

const callingKey = {
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

const exampleAccount = {
  account: 'Acme Zoo',
  plan: 'pro',
  key: callingKey,
  minute: { limit: 300, remaining: 299, resetAt: '2027-01-02T12:01:00.000Z' },
  day: { limit: 10_000, remaining: 8_412, resetAt: '2027-01-03T07:30:00.000Z' },
  openHolds: 2,
};

const getAccount = defineOperation({
  id: 'getAccount',
  endpoint: 'GET /account',
  scope: null,
  summary: 'Get the account',
  description:
    'Returns the account of the API key: its plan, what is left of both windows, and how many holds are open. Any key may call it. The request itself counts, and the answer includes it.',
  isNeverStored: true,
  answers: {
    200: answer('The account at this moment.', AccountSchema, {
      account: example('An account on Pro', exampleAccount),
    }),
  },

  async handle({ caller, usage }, { countOpenHolds }) {
    if (usage === null) throw new Error('a request with a valid key was not counted');
    const { accountName: account, plan, limits, keyId: id, keyName: name, scopes } = caller;
    const { minute, day } = measureWindows(usage, limits);
    const openHolds = await countOpenHolds(caller.accountId);
    const key = { id, name, scopes, expiresAt: toTime(caller.keyExpiresAtMs) };
    return {
      status: 200,
      body: { account, plan, key, minute: toWindow(minute), day: toWindow(day), openHolds },
    };
  },
});

function toWindow({ limit, remaining, resetAtMs }: WindowLeft) {
  return { limit, remaining, resetAt: new Date(resetAtMs).toISOString() };
}

const keyId = defineParameter(
  'keyId',
  { ...keyIdField('Identifier of the key.'), examples: [callingKey.id] },
  keyNotFound().message,
  (text) => text,
);

const listKeys = defineOperation({
  id: 'listKeys',
  endpoint: 'GET /keys',
  scope: 'keys:manage',
  summary: 'List keys',
  description:
    'Returns a paginated list of the keys of the account, newest first, without their text. Deleted keys are not listed. Follow the `Link` with `rel="next"` until there is none.',
  ...definePages('keys', {
    item: KeySchema,
    cursor: 'BWtleV8za1RNZDhmWnExTHhXMGFCd4Bq0x3mLk9sVg',
    examples: { page: example('One key', [listedKey]) },
  }),

  async handle({ query, caller: { accountId, keyId } }, services) {
    const page = openPage<string>({ path: '/keys', of: accountId }, query, services);
    const { items, next } = await services.keyringOf(keyId).listPage(accountId, page.limit, page.start);
    return { status: 200, body: items.map(toPartnerKey), headers: page.linkTo(next) };
  },
});

const createKey = defineOperation({
  id: 'createKey',
  endpoint: 'POST /keys',
  scope: 'keys:manage',
  summary: 'Create a key',
  description:
    'Creates a key for the account. Its text, `key`, is shown only once. A key can grant only the scopes that it has or covers, and the new key expires no later than the calling key. An account can have 25 active keys. An `Idempotency-Key` is ignored, because the text of the key is not stored.',
  body: NewKeySchema,
  bodyExamples: {
    least: example('Required fields', { scopes: ['pets:read'] }),
    complete: {
      summary: 'All fields',
      value: { name: 'Warehouse', scopes: ['orders:read', 'orders:write'], expiresInSeconds: 2_592_000 },
    },
  },
  isNeverStored: true,
  answers: {
    201: answer('The key is created.', IssuedKeySchema, { issued: example('The new key', issuedKey) }),
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
  endpoint: 'POST /keys/{keyId}/rotate',
  scope: 'keys:manage',
  summary: 'Rotate a key',
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
  answers: {
    201: answer('The key that takes the place of the old one.', IssuedKeySchema, {
      issued: example('The new key', issuedKey),
    }),
  },
  failures: {
    key_rotated:
      'keyId: this key is already rotated, and the key that replaced it was used; rotate that key instead',
  },

  async handle({ params, body, caller }, { keyringOf }) {
    const overlapSeconds = body?.overlapSeconds;
    const overlapMs = overlapSeconds === undefined ? defaultOverlapMs : Number(overlapSeconds) * secondMs;
    const issued = await keyringOf(caller.keyId).rotate(keyId.read(params), overlapMs);
    return { status: 201, body: toIssuedKey(issued) };
  },
});

const deleteKey = defineOperation({
  id: 'deleteKey',
  endpoint: 'DELETE /keys/{keyId}',
  scope: 'keys:manage',
  summary: 'Delete a key',
  description:
    'Ends a key of the account for good; the calling key may delete itself. It takes effect within 2 s, 5 s across instances. A deleted key is no longer listed.',
  params: keyId,
  answers: { 204: { description: 'The key is deleted.' } },

  async handle({ params, caller }, { keyringOf }) {
    await keyringOf(caller.keyId).revoke(keyId.read(params));
    return { status: 204 };
  },
});

function toIssuedKey(issued: IssuedKey) {
  return { ...toPartnerKey(issued), key: issued.key };
}

/** The operations on the account of the calling key and on its keys. */
export const accountOperations: readonly Operation[] = [
  getAccount,
  listKeys,
  createKey,
  rotateKey,
  deleteKey,
];
