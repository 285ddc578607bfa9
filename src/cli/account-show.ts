import type { Command } from 'commander';
import { type AccountState, readAccountState, type WindowState } from '../accounts/account-state.ts';
import type { ListedKey } from '../accounts/key-state.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { OperatorError, reasonOf } from '../errors.ts';
import type { LookAtUsage } from '../limits/counters.ts';
import { createStoredLook } from '../limits/memory/counter-store.ts';
import { showRedisHosts } from '../setting-values.ts';
import { readSecret } from '../storage/secret-rows.ts';
import type { Store } from '../store.ts';
import type { UsageHour } from '../usage/usage.ts';
import { accountArgument } from './arguments.ts';
import { addLeaf, type CommandContext, type Terminal } from './command.ts';
import { keyColumns, keyToJson } from './keys.ts';
import { formatSecond, formatTime, toIsoTime, withIsoTimes, writeLine } from './output.ts';
import { type Column, writeColumns } from './table.ts';

/** Maximum number of hours in the text output. --json lists the hours of 7 days. */
const shownHours = 24;
/** Maximum number of keys in the output. */
const shownKeysMax = 50;

type Overview = AccountState & { readonly keys: readonly ListedKey[] };

export function addShow(accounts: Command, context: CommandContext): void {
  addLeaf(
    accounts,
    'show',
    'show an account: its plan, its remaining requests, its keys and its usage',
    ['accounts show "Acme Zoo"', 'accounts show "Acme Zoo" --json'],
    `The rate limit windows and the usage are read from the store. A running service
updates them twice a second. With REDIS_URL, the windows are read from Redis.
Without --json, the output shows the newest ${shownHours} hours with requests. With --json,
it shows all hours with requests in the last 7 days. Both show the newest ${shownKeysMax}
keys.`,
  )
    .addArgument(accountArgument)
    .printing(context, async (_options, account: string) => {
      const { withStore, readConfig, clock } = context;
      const overview = await withStore(async (store) => {
        const state = await withLook(readConfig(), store, clock, (look) =>
          readAccountState({ ...store, look, clock }, account),
        );
        return { ...state, keys: await store.keyring.list(account, shownKeysMax) };
      });
      return { json: toJson(overview), print: (terminal) => writeOverview(terminal, overview) };
    });
}

/**
 * Calls `task` with the counts of the running instances. The counts are in Redis if `REDIS_URL` is set, otherwise in
 * the store.
 */
async function withLook<T>(
  { redisUrl }: Config,
  { database }: Store,
  clock: Clock,
  task: (look: LookAtUsage) => Promise<T>,
): Promise<T> {
  if (redisUrl === null) return task(createStoredLook(database, clock));
  const { createRedisCounters, redisPrefix } = await import('../limits/redis/redis-counters.ts');
  const prefix = redisPrefix(await readSecret(database, 'cursor'));
  const counters = createRedisCounters({ url: redisUrl, prefix });
  const look: LookAtUsage = async (subject) => {
    try {
      return await counters.look(subject, clock());
    } catch (error) {
      throw new OperatorError(
        `the rate limits cannot be read from Redis ${showRedisHosts(redisUrl)}: ${reasonOf(error)}`,
        { cause: error },
      );
    }
  };
  try {
    return await task(look);
  } finally {
    counters.close();
  }
}

function writeOverview(terminal: Terminal, overview: Overview): void {
  const { account, plan, limits, ownLimits, suspendedAtMs, createdAtMs, minute, day, lastDay } = overview;
  writeLine(terminal, `account     ${account}`);
  writeLine(
    terminal,
    `plan        ${plan}: ${limits.perMinute} a minute, ${limits.perDay} a day${describeOwn(ownLimits)}`,
  );
  if (suspendedAtMs !== null) writeLine(terminal, `suspended   since ${formatTime(suspendedAtMs)}`);
  writeLine(terminal, `created     ${formatTime(createdAtMs)}`);
  writeLine(terminal, `minute      ${describeWindow(minute)}`);
  writeLine(terminal, `day         ${describeWindow(day)}`);
  writeLine(terminal, `open holds  ${overview.holdsOpen} of ${overview.openHolds}`);
  writeLine(terminal, `last day    ${describeUse(lastDay)}`);
  writeLine(terminal, '');
  writeColumns(terminal, keyColumns, overview.keys);
  if (overview.keys.length < overview.keysTotal) writeLine(terminal, describeRest(overview));
  const hours = overview.usage.slice(-shownHours);
  if (hours.length === 0) return;
  writeLine(terminal, '');
  writeColumns(terminal, hourColumns, hours);
}

function describeOwn(own: Overview['ownLimits']): string {
  if (own === null) return '';
  return `, its own limits${own.untilMs === null ? '' : ` until ${formatTime(own.untilMs)}`}`;
}

function describeRest({ account, keys, keysTotal }: Overview): string {
  return `(the newest ${keys.length} of ${keysTotal}; to list all: keys list --account "${account}")`;
}

function describeWindow({ used, limit, remaining, resetAtMs }: WindowState): string {
  const reset = resetAtMs === null ? 'not started' : `resets at ${formatSecond(resetAtMs).replace(' ', 'T')}`;
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
    keys: keys.map(keyToJson),
    hours: usage.map(({ atMs, ...counts }) => ({ from: toIsoTime(atMs), ...counts })),
  });
}
