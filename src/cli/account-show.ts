import type { AccountState } from '../accounts/accounts.ts';
import type { ListedKey } from '../accounts/key-rows.ts';
import { OperatorError, reasonOf } from '../errors.ts';
import { toTime } from '../format.ts';
import type { LookAtUsage } from '../limits/counters.ts';
import { createStoredLook } from '../limits/memory/counter-store.ts';
import { showRedisHosts } from '../setting-values.ts';
import { readSecret } from '../storage/store-facts.ts';
import type { Store } from '../store.ts';
import type { UsageHour } from '../usage/usage.ts';
import { accountArgument } from './arguments.ts';
import type { AppCommand, CommandContext } from './command.ts';
import { keyColumns, keyToJson } from './keys.ts';
import type { Terminal } from './output.ts';
import { type Column, formatSecond, formatTime, withIsoTimes, writeColumns, writeLine } from './output.ts';

const labelWidth = 12;
const shownHours = 24;
const shownKeysMax = 50;

type Overview = AccountState & { readonly keys: readonly ListedKey[] };

export function addShow(accounts: AppCommand): void {
  accounts
    .addLeaf('show', 'show an account: its plan, its remaining requests, its keys and its usage')
    .withExamples('accounts show "Acme Zoo"', 'accounts show "Acme Zoo" --json')
    .withNotes(`The rate limit windows and the usage are read from the store. A running service
updates them twice a second. With REDIS_URL, the windows are read from Redis.
Without --json, the output shows the newest ${shownHours} hours with requests. With --json,
it shows all hours with requests in the last 7 days. Both show the newest ${shownKeysMax}
keys.`)
    .addArgument(accountArgument)
    .doesWithStore(async (store, _options, account: string) => {
      const keys = await store.keyring.list(account, shownKeysMax);
      const state = await readState(store, accounts.context, account);
      const overview = { ...state, keys };
      return { json: toJson(overview), print: (terminal) => writeOverview(terminal, overview) };
    });
}

/** The counts of the running instances are in Redis if `REDIS_URL` is set, otherwise in the store. */
async function readState(
  store: Store,
  { readConfig, clock }: CommandContext,
  account: string,
): Promise<AccountState> {
  const { redisUrl: url } = readConfig();
  const read = (look: LookAtUsage) => store.accounts.readState(account, look);
  if (url === null) return read(createStoredLook(store.database, clock));
  const { createRedisCounters, redisPrefix } = await import('../limits/redis/redis-counters.ts');
  const prefix = redisPrefix(await readSecret(store.database, 'cursor'));
  const counters = createRedisCounters({ url, prefix });
  const refuse = (cause: unknown) => {
    const server = `Redis ${showRedisHosts(url)}`;
    throw new OperatorError(`the rate limits cannot be read from ${server}: ${reasonOf(cause)}`, { cause });
  };
  try {
    return await read((subject) => counters.look(subject, clock()).catch(refuse));
  } finally {
    counters.close();
  }
}

function writeOverview(terminal: Terminal, overview: Overview): void {
  const { account, plan, limits, ownLimits, suspendedAtMs, keys, keysTotal } = overview;
  const { perMinute, perDay } = limits;
  const hours = overview.usage.slice(-shownHours);
  const lines: readonly (readonly [label: string, text: string | null])[] = [
    ['account', account],
    ['plan', `${plan}: ${perMinute} a minute, ${perDay} a day${describeOwn(ownLimits)}`],
    ['suspended', suspendedAtMs === null ? null : `since ${formatTime(suspendedAtMs)}`],
    ['created', formatTime(overview.createdAtMs)],
    ['minute', describeWindow(overview.minute)],
    ['day', describeWindow(overview.day)],
    ['open holds', `${overview.holdsOpen} of ${overview.openHolds}`],
    ['last day', describeUse(overview.lastDay)],
  ];
  for (const [label, text] of lines) {
    if (text !== null) writeLine(terminal, label.padEnd(labelWidth) + text);
  }
  writeLine(terminal, '');
  writeColumns(terminal, keyColumns, keys);
  if (keys.length < keysTotal) {
    const all = `keys list --account "${account}"`;
    writeLine(terminal, `(the newest ${keys.length} of ${keysTotal}; to list all: ${all})`);
  }
  if (hours.length === 0) return;
  writeLine(terminal, '');
  writeColumns(terminal, hourColumns, hours);
}

function describeOwn(own: Overview['ownLimits']): string {
  if (own === null) return '';
  return own.untilMs === null ? ', its own limits' : `, its own limits until ${formatTime(own.untilMs)}`;
}

function describeWindow({ used, limit, remaining, resetAtMs }: AccountState['minute']): string {
  const resetAt = resetAtMs === null ? null : formatSecond(resetAtMs).replace(' ', 'T');
  const reset = resetAt === null ? 'not started' : `resets at ${resetAt}`;
  return `${used} of ${limit} used, ${remaining} left, ${reset}`;
}

function describeUse({ requests, refusals, errors }: Omit<UsageHour, 'atMs'>): string {
  return `${requests} requests, ${refusals} refused by a limit, ${errors} with another error`;
}

const hourColumns: readonly Column<UsageHour>[] = [
  { heading: 'HOUR FROM', cell: ({ atMs }) => formatTime(atMs) },
  { heading: 'REQUESTS', cell: ({ requests }) => String(requests) },
  { heading: 'REFUSED', cell: ({ refusals }) => String(refusals) },
  { heading: 'ERRORS', cell: ({ errors }) => String(errors) },
];

function toJson({ id: _, keys, usage, limits, openHolds, holdsOpen, ...overview }: Overview) {
  return withIsoTimes({
    ...overview,
    ...limits,
    ownLimits: overview.ownLimits && withIsoTimes(overview.ownLimits),
    minute: withIsoTimes(overview.minute),
    day: withIsoTimes(overview.day),
    openHolds: { limit: openHolds, open: holdsOpen },
    keys: keys.map((key) => withIsoTimes(keyToJson(key))),
    hours: usage.map(({ atMs, ...counts }) => ({ from: toTime(atMs), ...counts })),
  });
}
