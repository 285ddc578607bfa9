import type { Command } from 'commander';
import { partnerScopes, type Scope, scopes } from '../accounts/account.ts';
import { isOfEnvironment, keyEnvironmentOf } from '../accounts/api-key.ts';
import type { ListedKey } from '../accounts/key-state.ts';
import { defaultOverlapMs, type IssuedKey } from '../accounts/keyring.ts';
import { environments } from '../config.ts';
import { UsageError } from '../errors.ts';
import {
  accountFilter,
  addPlanOptions,
  type Options,
  parseAccountName,
  parseDuration,
  parseLifetime,
  parseName,
  parseScopeList,
  readPlan,
  soon,
  textId,
} from './arguments.ts';
import { addGroup, addLeaf, type CommandContext, type Printed, printLines, printTable } from './command.ts';
import { formatTime, toIsoTime, withIsoTimes, writeWarning } from './output.ts';
import type { Column } from './table.ts';

export function addKeys(program: Command, context: CommandContext): void {
  const keys = addGroup(program, 'keys', 'create, list, rotate and revoke API keys');
  addCreate(keys, context);
  addLeaf(keys, 'list', 'list keys, also expired and revoked ones', [
    'keys list --account "Acme Zoo"',
    'keys list --json',
  ])
    .addOption(accountFilter('the keys'))
    .printing(context, async ({ account }: Options) =>
      printTable(await context.withStore(({ keyring }) => keyring.list(account)), keyColumns, keyToJson),
    );
  addLeaf(keys, 'rotate', 'replace a key with a new one; the old key stays valid for 24h, or for --overlap', [
    'keys rotate key_3kTMd8fZq1LxW0aB',
    'keys rotate key_3kTMd8fZq1LxW0aB --overlap 0',
  ])
    .addArgument(keyId)
    .option('--overlap <duration>', 'how long the old key stays valid (default: 24h)', parseDuration)
    .printing(context, async ({ overlap = defaultOverlapMs }: { readonly overlap?: number }, id: string) =>
      printIssued(await context.withStore(({ keyring }) => keyring.rotate(id, overlap))),
    );
  addRevoke(keys, context);
}

const keyId = textId('key', 'keys list');

interface CreateOptions extends Options {
  readonly name?: string;
  readonly scopes?: readonly Scope[];
  readonly expiresIn?: number;
}

function addCreate(keys: Command, context: CommandContext): void {
  const command = addLeaf(keys, 'create', 'create a key, and its account if it does not exist', [
    'keys create --plan free',
    'keys create --plan pro --account "Acme Zoo" --expires-in 30d',
    'keys create --account "Acme Zoo" --name Warehouse --scopes pets:read',
    'keys create --account "Own shop" --scopes all',
    'keys create --plan enterprise --per-minute 5000 --per-day 1000000',
  ]);
  addPlanOptions(command)
    .option(
      '--account <name>',
      'the account (default: a new account with a generated name)',
      parseAccountName,
    )
    .option('--name <name>', 'a label for the key', parseName)
    .option(
      '--scopes <scopes>',
      `what the key may do: all, or some of ${scopes.join(', ')} (default: ${partnerScopes.join(', ')})`,
      parseScopeList,
    )
    .option('--expires-in <duration>', 'how long the key is valid (default: until revoked)', parseLifetime)
    .printing(context, (options: CreateOptions) => create(context, options));
}

async function create({ withStore, terminal }: CommandContext, options: CreateOptions): Promise<Printed> {
  const plan = readPlan(options);
  const { account = null, name = null, scopes: granted = null, expiresIn: lifetimeMs = null } = options;
  if (plan === null && account === null) throw new UsageError('a new account needs --plan');
  const order = { account, plan, name, scopes: granted, lifetimeMs };
  const issued = await withStore(({ keyring }) => keyring.issue(order));
  if (account !== null && issued.isNewAccount)
    writeWarning(terminal, `there was no account "${account}": a new one was created`);
  return printIssued(issued);
}

function addRevoke(keys: Command, context: CommandContext): void {
  addLeaf(keys, 'revoke', `revoke a key; ${soon}`, ['keys revoke key_3kTMd8fZq1LxW0aB'])
    .addArgument(keyId)
    .option('--disable-webhooks', 'also disable the webhooks that the key created', false)
    .printing(context, async ({ disableWebhooks }: { readonly disableWebhooks: boolean }, id: string) => {
      const webhooks = await context.withStore(async ({ keyring, allWebhooks }) => {
        await keyring.revoke(id);
        if (disableWebhooks) await allWebhooks.disableOfKey(id);
        return await allWebhooks.listOfKey(id);
      });
      // Revoking a key does not disable the webhooks that it created, so the output lists them.
      const left = webhooks.map((made) => `its webhook ${made.id} to ${made.url} is ${made.status}`);
      return printLines({ id, state: 'revoked', webhooks }, `${id} is revoked`, ...left);
    });
}

function printIssued(issued: IssuedKey & { readonly oldEndsAtMs?: number }): Printed {
  const { id, name, key, account, plan, scopes: granted, expiresAtMs, oldEndsAtMs = null } = issued;
  const old = oldEndsAtMs === null ? {} : { oldKeyEndsAt: toIsoTime(oldEndsAtMs) };
  return printLines(
    { id, name, key, account, plan, scopes: granted, expiresAt: toIsoTime(expiresAtMs), ...old },
    `key      ${key}`,
    `id       ${id}`,
    ...(name === null ? [] : [`name     ${name}`]),
    `account  ${account}`,
    `plan     ${plan}`,
    `scopes   ${granted.join(', ')}`,
    `expires  ${formatTime(expiresAtMs)}`,
    `works only with ENVIRONMENT=${environmentOf(key)}`,
    ...(oldEndsAtMs === null ? [] : [`the old key works until ${toIsoTime(oldEndsAtMs)}`]),
    '',
    'Copy the key now: it is not stored and cannot be shown again.',
  );
}

/** Returns the environment in the text of a key. */
function environmentOf(key: string): string {
  const found = environments.find((environment) => isOfEnvironment(key, keyEnvironmentOf[environment]));
  return found ?? 'no environment';
}

export const keyColumns: readonly Column<ListedKey>[] = [
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'KEY', cell: ({ visibleStart }) => `${visibleStart}…`, leavesAt: 3 },
  { heading: 'NAME', cell: ({ name }) => name ?? '-', leavesAt: 2 },
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'PLAN', cell: ({ plan }) => plan, leavesAt: 5 },
  { heading: 'STATE', cell: describeState },
  { heading: 'SCOPES', cell: ({ scopes: granted }) => granted.join(','), leavesAt: 7 },
  { heading: 'CREATED', cell: ({ createdAtMs }) => formatTime(createdAtMs), leavesAt: 6 },
  { heading: 'EXPIRES', cell: ({ expiresAtMs }) => formatTime(expiresAtMs), leavesAt: 4 },
  { heading: 'LAST USED', cell: ({ lastUsedAtMs }) => formatTime(lastUsedAtMs), leavesAt: 1 },
];

function describeState({ state, bannedUntilMs }: ListedKey): string {
  return bannedUntilMs === null ? state : `banned until ${formatTime(bannedUntilMs)}`;
}

export function keyToJson({ visibleStart: start, ...key }: ListedKey): object {
  return withIsoTimes({ ...key, start, state: key.bannedUntilMs === null ? key.state : 'banned' });
}
