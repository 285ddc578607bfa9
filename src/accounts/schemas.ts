import Type, { type Static } from 'typebox';
import { planNames } from '../plans/plan.ts';
import {
  countField,
  enumField,
  namedObject,
  nameField,
  nullable,
  timeField,
  wholeNumberField,
} from '../schema.ts';
import { accountNameLengthMax, scopes } from './account.ts';
import { type ListedKey, toTime } from './key-rows.ts';

/** The pattern of a key id. */
export const keyIdPattern = '^key_[0-9A-Za-z]{16}$';
const keyIdLength = 20;

/** Maximum number of active keys of an account when a partner creates one. Operators may create more. */
export const liveKeysMax = 25;
const lifetimeSecondsMax = 2_147_483_647;
/** Maximum overlap of a rotation. */
export const overlapSecondsMax = 2_592_000;

/** The states of keys in `GET /keys`. Revoked keys are not listed. */
const listedKeyStates = ['active', 'rotated', 'expired'] as const;

/** Returns the schema of a key id. */
export function keyIdField(description: string) {
  return Type.String({ minLength: keyIdLength, maxLength: keyIdLength, pattern: keyIdPattern, description });
}

const ScopeSchema = enumField(scopes, 'What a key may do.', {
  title: 'Scope',
  about: 'What an API key may do.',
});

const KeyStateSchema = enumField(
  listedKeyStates,
  '`rotated`: replaced by another key, but valid until `expiresAt`.',
  { title: 'ApiKeyState', about: 'The state of an API key.' },
);

/** Returns the schema of the scopes of a key. */
function scopesField(description: string) {
  return Type.Array(ScopeSchema, {
    minItems: 1,
    maxItems: scopes.length,
    uniqueItems: true,
    rule: `must be an array of one or more of ${scopes.join(', ')}, each once`,
    description,
  });
}

const keyName = 'The name of the key, for people.';
const never = 'null: it never expires.';

const CallingKeySchema = namedObject('CallingKey', 'The calling API key.', {
  id: keyIdField('Identifier of the key.'),
  name: nullable(nameField(keyName, 'Warehouse')),
  scopes: scopesField('What the key may do.'),
  expiresAt: nullable(timeField(`When the key ends; ${never}`)),
});

/** A key, as `GET /keys` returns it. */
export const KeySchema = namedObject('ApiKey', 'An API key of the account.', {
  ...CallingKeySchema.properties,
  start: Type.String({
    minLength: 8,
    maxLength: 16,
    pattern: '^as_(dev|stg|live)_[0-9A-Za-z]{4}$',
    description: 'The start of the text of the key, to distinguish keys.',
  }),
  state: KeyStateSchema,
  createdAt: timeField('When the key was created.'),
  lastUsedAt: nullable(timeField('When the key was last used, to the minute; null: never.')),
});

/** The request body that creates a key. */
export const NewKeySchema = namedObject('NewApiKey', 'The properties of a new API key.', {
  name: Type.Optional(nameField(keyName, 'Warehouse')),
  scopes: scopesField('The scopes of the key. The calling key must have or cover them.'),
  expiresInSeconds: Type.Optional(
    wholeNumberField('How many seconds the key is valid. Default: it ends when the calling key ends.', {
      minimum: 1,
      maximum: lifetimeSecondsMax,
    }),
  ),
});

/** The request body that rotates a key. */
export const KeyRotationSchema = namedObject('ApiKeyRotation', 'How to rotate an API key.', {
  overlapSeconds: Type.Optional(
    wholeNumberField('How many seconds the old key stays valid; 86400 by default. 0 ends it at once.', {
      minimum: 0,
      maximum: overlapSecondsMax,
    }),
  ),
});

/** A new key with its text. Only the response that creates the key has the text. */
export const IssuedKeySchema = namedObject('IssuedApiKey', 'A new API key with its text.', {
  ...KeySchema.properties,
  key: Type.String({
    minLength: 35,
    maxLength: 36,
    pattern: '^as_(dev|stg|live)_[0-9A-Za-z]{28}$',
    description: 'The text of the key. It is not stored and cannot be shown again.',
  }),
});

/** Converts a key that is not revoked into a key as partners see it. */
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

const WindowSchema = namedObject('LimitWindow', 'What is left of a window of the limits.', {
  limit: countField('The number of requests allowed in the window.'),
  remaining: countField('The number of requests left in the window.'),
  resetAt: timeField('When the window ends.'),
});

const PlanNameSchema = enumField(planNames, 'The plan that the account is on.', {
  title: 'PlanName',
  about: 'The plan of an account.',
});

/** The account of the calling key, as `GET /account` returns it. */
export const AccountSchema = namedObject('Account', 'The account of an API key, at one moment.', {
  account: Type.String({
    minLength: 1,
    maxLength: accountNameLengthMax,
    pattern: '^[^\\x00-\\x1f\\x7f]+$',
    description: 'The name of the account.',
  }),
  plan: PlanNameSchema,
  key: CallingKeySchema,
  minute: WindowSchema,
  day: WindowSchema,
  openHolds: countField('The number of open holds of the account.'),
});
