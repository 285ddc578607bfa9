import Type, { type TProperties } from 'typebox';
import { partnerScopes } from '../../accounts/account.ts';
import { CategorySchema } from '../../categories/categories.ts';
import { logLevels, requestLogs } from '../../config.ts';
import { OrderSchema } from '../../orders/order.ts';
import { PetSchema, petStatuses } from '../../pets/pet.ts';
import { listedLimits, planNames } from '../../plans/plan.ts';
import { enumField, int64Field, namedObject, nullable } from '../../schema.ts';
import { leftMax } from '../../webhooks/delivery-rows.ts';
import { AttemptSchema } from '../../webhooks/webhook.ts';
import { hitKinds } from '../search.ts';

/** The schemas of the responses of operators' operations, as far as no room declares them. Times are Unix milliseconds. */

const text = Type.String();
const id = int64Field('Identifier.');
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, format: 'int64' });
const time = Type.Integer({ format: 'int64', description: 'Unix milliseconds.' });
const number = Type.Number();
const truth = Type.Boolean();
const texts = Type.Array(text);
const limits = Type.Object({ perMinute: count, perDay: count });
const limitsOf = (plans: readonly string[]) =>
  Type.Object(Object.fromEntries(plans.map((plan) => [plan, limits])));

/** The lists that the pages show: every value that a filter or a form may have. */
const declared = namedObject('Declared', 'The values that filters and forms may have.', {
  petStatuses: texts,
  petInputs: Type.Array(
    Type.Object({
      field: text,
      label: text,
      isInt64: truth,
      choices: Type.Unsafe<unknown>({ type: ['array', 'null'], items: text }),
      isRemovable: Type.Boolean({ description: 'True if null removes the field.' }),
    }),
  ),
  orderStatuses: texts,
  webhookFilters: texts,
  accountOrders: texts,
  scopes: texts,
  partnerScopes: texts,
  planNames: texts,
  listedLimits: limitsOf(Object.keys(listedLimits)),
  openHoldsOf: Type.Object(Object.fromEntries(planNames.map((plan) => [plan, count]))),
  errorCodes: texts,
  auditActions: texts,
  roles: texts,
  logLevels: texts,
  requestLogs: texts,
});

/** An object whose members depend on the release. */
const open = Type.Object({});

/** The state of the service. */
const overview = namedObject('Overview', 'The state of the service and of the instance that answers.', {
  nowMs: time,
  version: text,
  startedAtMs: time,
  engine: enumField(['sqlite', 'postgres'], 'The database of the store.'),
  store: Type.Object({
    sizeBytes: nullable(count),
    diskFreeBytes: nullable(count),
    lastBackupAtMs: nullable(time),
  }),
  instances: Type.Array(Type.Object({ host: text, version: text, startedAtMs: time, isThis: truth })),
  log: Type.Object({
    level: enumField(logLevels, 'The lowest level that is logged.'),
    requests: enumField(requestLogs, 'Which requests are logged.'),
  }),
  health: Type.Object({ problems: texts, notes: texts }),
  inventory: Type.Object({
    ...Object.fromEntries(petStatuses.map((status) => [status, count])),
    asOfMs: time,
  }),
  webhooks: Type.Object({
    farthest: nullable(Type.Object({ id: text, behindMs: count })),
    disabled: count,
  }),
  feedLagSeconds: nullable(number),
  eventWaits: nullable(count),
  storeFailures: nullable(count),
  bansBegun: nullable(count),
  notes: Type.Array(
    namedObject('TrafficNote', 'The requests of 10 seconds of this instance. `refused` are those with 429.', {
      requests: count,
      refused: count,
      rejected: count,
      failed: count,
      atMs: time,
      seconds: number,
      medianMs: nullable(number),
      slowMs: nullable(number),
    }),
  ),
});

const counts = { requests: count, refused: count, errors: count };

const account = {
  id,
  account: text,
  plan: text,
  limits,
  ownLimits: Type.Unsafe<unknown>({ type: ['object', 'null'] }),
  openHolds: count,
  suspendedAtMs: nullable(time),
  createdAtMs: time,
};

const window = Type.Object({ limit: count, used: count, remaining: count, resetAtMs: nullable(time) });

const webhook = namedObject('OperatorsWebhook', 'A webhook of an account.', {
  id: text,
  url: text,
  types: texts,
  keyId: text,
  status: text,
  disabledBecause: nullable(text),
  account: text,
  isPaused: truth,
  eventsBehind: count,
  behindMs: nullable(count),
  lastAttemptAtMs: nullable(time),
  lastResult: nullable(text),
  nextAttemptAtMs: nullable(time),
  after: nullable(text),
});

const attempt = namedObject('OperatorsAttempt', 'An attempt to send a message to a webhook.', {
  id: Type.Integer({ minimum: 0, maximum: 99, description: 'Place in the list.' }),
  ...AttemptSchema.properties,
});

const left = namedObject('EventsLeft', 'What a disabled webhook would get. Null while it is enabled.', {
  events: Type.Integer({
    minimum: 0,
    maximum: leftMax,
    description: 'The events after its position that are kept and that it may see.',
  }),
  hasMore: Type.Boolean({ description: `True if there are more than ${leftMax}.` }),
  isPositionLost: Type.Boolean({
    description:
      'True if events after its position are deleted. It can be enabled only after a replay from a later event.',
  }),
});

const key = namedObject('OperatorsKey', 'An API key of an account.', {
  id: text,
  name: nullable(text),
  scopes: Type.Array(Type.String({ examples: [partnerScopes[0]] })),
  expiresAt: nullable(text),
  start: text,
  state: text,
  createdAt: text,
  lastUsedAt: nullable(text),
  bannedUntilMs: nullable(time),
});

const listed = {
  account: namedObject('ListedAccount', 'An account with its requests of 24 hours.', {
    ...account,
    keys: count,
    ...counts,
  }),
  day: namedObject('UsageDay', 'The requests of an account on one day in UTC.', {
    day: text,
    account: text,
    ...counts,
  }),
  ban: namedObject('ListedBan', 'A banned key.', {
    id: text,
    start: text,
    name: nullable(text),
    account: text,
    beganAtMs: time,
    endsAtMs: time,
  }),
  request: namedObject('ListedRequest', 'A request that failed or was slow, or several that were merged.', {
    id,
    atMs: time,
    lastAtMs: time,
    times: count,
    account: nullable(text),
    keyId: nullable(text),
    address: nullable(text),
    operation: nullable(text),
    status: count,
    code: nullable(text),
    message: nullable(text),
    subject: nullable(text),
    requestId: nullable(text),
    durationMs: count,
  }),
  stranger: namedObject('Stranger', 'An address with its refused requests of the last hour.', {
    address: text,
    refusals: count,
    lastAtMs: time,
  }),
  entry: namedObject('AuditEntry', 'An entry of the audit log. `before` and `after` are JSON texts.', {
    id,
    atMs: time,
    action: text,
    subject: text,
    account: nullable(text),
    before: nullable(text),
    after: nullable(text),
    actorKind: text,
    actor: text,
  }),
  pet: namedObject('ListedPet', 'An animal with the name of its category.', {
    ...PetSchema.properties,
    category: nullable(text),
  }),
  operator: namedObject('Operator', 'An operator.', {
    name: text,
    role: text,
    createdAtMs: time,
    sessions: count,
    tokens: count,
  }),
  session: namedObject('OperatorsSession', 'A session of the console, or a token.', {
    id: text,
    kind: text,
    name: text,
    role: nullable(text),
    createdAtMs: time,
    expiresAtMs: time,
  }),
};

/** A page of a list. `next` is the `before` of the next page; null on the last page. */
function pageOf(item: ReturnType<typeof Type.Object>, next: object = nullable(id), more: TProperties = {}) {
  return Type.Object({ items: Type.Array(item), next: Type.Unsafe<unknown>(next), ...more });
}

const hit = namedObject(
  'SearchHit',
  'What a search has found. `isExact`: its id or its whole name was typed.',
  {
    kind: enumField(hitKinds, 'What it is.'),
    id: text,
    label: nullable(text),
    account: nullable(text),
    state: text,
    isExact: truth,
  },
);

export const answers = {
  session: Type.Object({
    id: text,
    name: text,
    role: text,
    environment: text,
    engine: text,
    version: text,
    acts: texts,
    declared,
  }),
  overview,
  search: Type.Object({
    items: Type.Array(hit),
    more: Type.Array(enumField(hitKinds, 'A kind of which there are more.')),
  }),
  requests: pageOf(listed.request),
  strangers: pageOf(listed.stranger, Type.Null()),
  audit: pageOf(listed.entry),
  accounts: pageOf(listed.account),
  account: namedObject('OperatorsAccount', 'An account with its use, its webhooks and a page of its keys.', {
    ...account,
    minute: window,
    day: window,
    holdsOpen: count,
    keysTotal: count,
    usage: Type.Array(open),
    lastDay: Type.Object({ requests: count, refusals: count, errors: count }),
    nowMs: time,
    keys: Type.Array(key),
    nextKey: nullable(text),
    webhooks: Type.Array(webhook),
    oldest: nullable(text),
  }),
  daysOfAccount: Type.Object({
    nowMs: time,
    days: Type.Array(Type.Object({ atMs: time, requests: count, refusals: count, errors: count })),
  }),
  days: pageOf(listed.day, nullable(text)),
  accountName: Type.Object({ account: text }),
  deletion: Type.Object({ keys: count, webhooks: count, holds: count }),
  newKey: Type.Object({ id: text, key: text }),
  rotatedKey: Type.Object({ id: text, key: text, oldEndsAtMs: time }),
  bans: pageOf(listed.ban, nullable(text), { nowMs: time }),
  pets: pageOf(listed.pet),
  pet: Type.Object({ pet: listed.pet, tag: text, orders: Type.Array(OrderSchema), nowMs: time }),
  categories: pageOf(CategorySchema),
  category: Type.Object({ ...CategorySchema.properties, isNew: truth }),
  order: Type.Object({
    order: OrderSchema,
    pet: nullable(listed.pet),
    nowMs: time,
  }),
  orders: pageOf(OrderSchema, nullable(id), { nowMs: time }),
  webhooks: pageOf(webhook, nullable(id), { oldest: nullable(text), onHold: count }),
  resumed: Type.Object({
    resumed: texts,
    failed: Type.Array(Type.Object({ id: text, problem: text })),
  }),
  webhook: Type.Object({
    webhook,
    attempts: Type.Array(attempt),
    left: Type.Unsafe<unknown>({
      anyOf: [left, { type: 'null' }],
      description: left['description' as never],
    }),
    oldest: nullable(text),
  }),
  operators: pageOf(listed.operator, nullable(text)),
  sessions: pageOf(listed.session, nullable(text), { nowMs: time }),
  token: Type.Object({ id: text, token: text, expiresAtMs: time }),
};
