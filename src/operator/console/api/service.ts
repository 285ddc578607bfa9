import Type from 'typebox';
import manifest from '../../../../package.json' with { type: 'json' };
import { partnerScopes, scopes } from '../../../accounts/account.ts';
import { auditActions } from '../../../audit/audit-log.ts';
import { secondMs } from '../../../clock.ts';
import { logLevels, requestLogs } from '../../../config.ts';
import { errorCodes } from '../../../errors.ts';
import { stringifyExactJson } from '../../../exact-json.ts';
import { coversRole, roles } from '../../../operator-role.ts';
import { orderStatuses } from '../../../orders/order.ts';
import { petInputs, petStatuses } from '../../../pets/pet.ts';
import { listedLimits, openHoldsOf, planNames } from '../../../plans/plan.ts';
import { enumField } from '../../../schema.ts';
import { listRequests } from '../../../usage/failed-requests.ts';
import { listStrangers } from '../../../usage/strangers.ts';
import { hitsMax, search } from '../../search.ts';
import { answers } from '../answers.ts';
import {
  type ConsoleServices,
  int64Filter,
  operation,
  pageRows,
  readRange,
  textFilter,
  timeFilter,
} from '../operation.ts';
import { accountOrders } from './accounts.ts';
import { webhookFilters } from './webhooks.ts';

const requestFilters = {
  account: textFilter,
  key: textFilter,
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  code: Type.Optional(enumField(errorCodes, 'The code of the error.')),
  since: timeFilter,
  until: timeFilter,
  id: textFilter,
  before: int64Filter,
};

const logFields = {
  level: Type.Optional(enumField(logLevels, 'The lowest level that is logged, as LOG_LEVEL.')),
  requests: Type.Optional(enumField(requestLogs, 'Which requests are logged, as LOG_REQUESTS.')),
};

const auditFilters = {
  account: textFilter,
  subject: textFilter,
  actor: textFilter,
  since: timeFilter,
  until: timeFilter,
  action: Type.Optional(enumField(auditActions, 'What was done.')),
  before: int64Filter,
};

/** The declarations that the pages show. A session starts with them, so that no page has a list of its own. */
const declared = {
  petStatuses,
  petInputs,
  orderStatuses,
  webhookFilters,
  accountOrders,
  scopes,
  partnerScopes,
  planNames,
  listedLimits,
  openHoldsOf,
  errorCodes,
  auditActions,
  roles,
  logLevels,
  requestLogs,
};

/** Reads the metrics of the store, which are at most a minute old. */
async function readStore({ readMetric }: ConsoleServices['vitals']) {
  const backedUpAt = await readMetric('last_backup_timestamp_seconds');
  return {
    sizeBytes: await readMetric('store_size_bytes'),
    diskFreeBytes: await readMetric('store_disk_free_bytes'),
    lastBackupAtMs: backedUpAt ? Math.round(backedUpAt * secondMs) : null,
  };
}

/** A browser would lose digits of large numbers, so it gets JSON as a text. */
const toText = (value: unknown) => (value === null ? null : stringifyExactJson(value));

export const serviceOperations = [
  operation(
    'getSession',
    'GET /session',
    'reader',
    {
      summary: 'Show who calls, and the service',
      answer: answers.session,
    },
    async (_, { signedIn: { id, name, role }, environment, database, listActs }) => {
      const { engine } = database;
      const acts = listActs(role);
      return { id, name, role, environment, engine, version: manifest.version, acts, declared };
    },
  ),

  operation(
    'getOverview',
    'GET /overview',
    'reader',
    { summary: 'Show the state of the service', answer: answers.overview },
    async (_, context) => {
      const { vitals, readHealth, countInventory, allWebhooks, clock, database } = context;
      const { instances, logSwitch } = context;
      const reads = [readHealth(), countInventory(null), allWebhooks.readLag(), instances.list()] as const;
      const [health, inventory, { farthest, disabled }, running] = await Promise.all(reads);
      const { version, startedAtMs } = instances.own;
      return {
        nowMs: clock(),
        version,
        startedAtMs,
        engine: database.engine,
        store: await readStore(vitals),
        instances: running,
        log: logSwitch.read(),
        health,
        inventory,
        webhooks: {
          farthest: farthest[0] ?? null,
          disabled: Object.values(disabled).reduce((sum, count) => sum + count, 0),
        },
        feedLagSeconds: await vitals.readMetric('event_lag_seconds'),
        eventWaits: await vitals.readMetric('event_waits'),
        storeFailures: await vitals.readMetric('store_failures_total'),
        bansBegun: await vitals.readMetric('bans_begun_total'),
        notes: vitals.list(),
      };
    },
  ),

  operation(
    'search',
    'GET /search',
    'reader',
    {
      summary: 'Find an account, a key, an animal, an order, a webhook or a request',
      description: `Finds accounts and animals by the start of their names, keys by that of their name or of their text as it is
shown, and all of them by their id; requests by their request id. At most ${hitsMax} of each kind.`,
      fields: { text: textFilter },
      answer: answers.search,
    },
    ({ text = '' }, context) => search(context, text),
  ),

  /** Returns a page of the requests that failed or were slow. */
  operation(
    'listRequests',
    'GET /requests',
    'reader',
    {
      summary: 'List the requests that failed or were slow',
      fields: requestFilters,
      answer: answers.requests,
    },
    async (query, { accounts, database, signedIn }) => {
      const { account, key: keyId, status, code, id: requestId, before: newestId = null } = query;
      const accountId = account === undefined ? undefined : await accounts.findId(account);
      const filter = { accountId, keyId, status, code, ...readRange(query), requestId };
      const page = await listRequests(database, { ...filter, limit: pageRows, newestId });
      if (coversRole(signedIn.role, 'admin')) return page;
      return { ...page, items: page.items.map((item) => ({ ...item, address: null })) };
    },
  ),

  operation(
    'listStrangers',
    'GET /strangers',
    'admin',
    {
      summary: 'List the addresses that send the most refused requests without a valid key',
      description:
        'The refused requests without a valid key of the last hour, by address: of each minute, the 100 addresses with the most on each instance. An IPv6 address stands for its network of 64 bits.',
      answer: answers.strangers,
    },
    async (_, { database, clock }) => ({ items: await listStrangers(database, clock()), next: null }),
  ),

  operation(
    'changeLog',
    'PUT /log',
    'admin',
    {
      summary: 'Change what the running instances log, until they start again',
      description:
        'Every running instance applies the change within 2 s. What is absent is as the settings of the instance say, so an empty object takes an earlier change back.',
      fields: logFields,
    },
    ({ level = null, requests = null }, { changeLog }) => changeLog({ level, requests }),
  ),

  /** Returns a page of the audit log. */
  operation(
    'listAudit',
    'GET /audit',
    'reader',
    { summary: 'List the entries of the audit log', fields: auditFilters, answer: answers.audit },
    async ({ account, before = null, since, until, ...query }, { accounts, audit }) => {
      const accountId = account === undefined ? undefined : await accounts.findId(account);
      const times = readRange({ since, until });
      const page = await audit.list({ ...query, accountId, ...times, limit: pageRows, newestId: before });
      const items = page.items.map(({ actor, before: old, after, ...entry }) => ({
        ...entry,
        actorKind: actor.kind,
        actor: actor.name,
        before: toText(old),
        after: toText(after),
      }));
      return { items, next: page.next };
    },
  ),
];
