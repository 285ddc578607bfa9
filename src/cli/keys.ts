import { partnerScopes, type Scope, scopes } from '../accounts/account.ts';
import type { IssuedKey } from '../accounts/key-changes.ts';
import type { ListedKey } from '../accounts/key-rows.ts';
import { defaultOverlapMs } from '../accounts/keyring.ts';
import { UsageError } from '../errors.ts';
import { toTime } from '../format.ts';
import type { ListedBan } from '../limits/bans.ts';
import { accountFilter, addPlanOptions, type PlanOptions, readPlan, soon, textId } from './arguments.ts';
import { type AppCommand, type CommandContext, type Printed, printLines, printTable } from './command.ts';
import { type Column, formatTime, writeWarning } from './output.ts';
import { parseAccountName, parseDuration, parseLifetime, parseName, parseScopeList } from './parsers.ts';

const keyId = textId('key', 'keys list');

export function addKeys(program: AppCommand): void {
  const keys = program.addGroup('keys', 'create, list, rotate and revoke API keys');
  addCreate(keys);
  keys
    .addLeaf('list', 'list keys, also expired and revoked ones')
    .withExamples('keys list --account "Acme Zoo"', 'keys list --json')
    .addOption(accountFilter('the keys'))
    .doesWithStore(async ({ keyring }, { account }: { readonly account?: string }) =>
      printTable(await keyring.list(account), keyColumns, keyToJson),
    );
  keys
    .addLeaf('rotate', 'replace a key with a new one; the old key stays valid for 24h, or for --overlap')
    .withExamples('keys rotate key_3kTMd8fZq1LxW0aB', 'keys rotate key_3kTMd8fZq1LxW0aB --overlap 0')
    .addArgument(keyId)
    .option('--overlap <duration>', 'how long the old key stays valid (default: 24h)', parseDuration)
    .doesWithStore(async ({ keyring }, { overlap }: { readonly overlap?: number }, id: string) =>
      printIssued(keys.context, await keyring.rotate(id, overlap ?? defaultOverlapMs)),
    );
  keys
    .addLeaf('revoke', `revoke a key; ${soon}`)
    .withExamples('keys revoke key_3kTMd8fZq1LxW0aB')
    .addArgument(keyId)
    .option('--disable-webhooks', 'also disable the webhooks that the key created', false)
    .doesWithStore(async (store, { disableWebhooks }: { readonly disableWebhooks: boolean }, id: string) => {
      await store.keyring.revoke(id);
      if (disableWebhooks) await store.allWebhooks.disableOfKey(id);
      // Revoking a key does not disable the webhooks that it created, so the output lists them.
      const webhooks = await store.allWebhooks.listOfKey(id);
      const left = webhooks.map((made) => `its webhook ${made.id} to ${made.url} is ${made.status}`);
      return printLines({ id, state: 'revoked', webhooks }, `${id} is revoked`, ...left);
    });
}

type KeyOptions = Partial<{ account: string; name: string; scopes: readonly Scope[]; expiresIn: number }>;

function addCreate(keys: AppCommand): void {
  const newAccount = 'a new account with a generated name';
  const scopeNames = `all, or some of ${scopes.join(', ')} (default: ${partnerScopes.join(', ')})`;
  const create = keys
    .addLeaf('create', 'create a key, and its account if it does not exist')
    .withExamples(
      'keys create --plan free',
      'keys create --plan pro --account "Acme Zoo" --expires-in 30d',
      'keys create --account "Acme Zoo" --name Warehouse --scopes pets:read',
      'keys create --account "Own shop" --scopes all',
      'keys create --plan enterprise --per-minute 5000 --per-day 1000000',
    );
  addPlanOptions(create, false)
    .option('--account <name>', `the account (default: ${newAccount})`, parseAccountName)
    .option('--name <name>', 'a label for the key', parseName)
    .option('--scopes <scopes>', `what the key may do: ${scopeNames}`, parseScopeList)
    .option('--expires-in <duration>', 'how long the key is valid (default: until revoked)', parseLifetime)
    .does(async (context, options: KeyOptions & PlanOptions) => {
      const { account = null, name = null, scopes: granted = null, expiresIn = null, ...planned } = options;
      const plan = Object.keys(planned).length === 0 ? null : readPlan(planned);
      if (plan === null && account === null) throw new UsageError('a new account needs --plan');
      const order = { account, plan, name, scopes: granted, lifetimeMs: expiresIn };
      const issued = await context.withStore(({ keyring }) => keyring.issue(order));
      if (account !== null && issued.isNewAccount)
        writeWarning(context.terminal, `there was no account "${account}": a new one was created`);
      return printIssued(context, issued);
    });
}

type Issued = IssuedKey & { readonly oldEndsAtMs?: number };

function printIssued({ readConfig }: CommandContext, issued: Issued): Printed {
  const { id, name, key, account, plan, scopes: granted, expiresAtMs, oldEndsAtMs } = issued;
  const old = oldEndsAtMs === undefined ? {} : { oldKeyEndsAt: toTime(oldEndsAtMs) };
  return printLines(
    { id, name, key, account, plan, scopes: granted, expiresAt: toTime(expiresAtMs), ...old },
    `key      ${key}`,
    `id       ${id}`,
    ...(name === null ? [] : [`name     ${name}`]),
    `account  ${account}`,
    `plan     ${plan}`,
    `scopes   ${granted.join(', ')}`,
    `expires  ${formatTime(expiresAtMs)}`,
    `works only with ENVIRONMENT=${readConfig().environment}`,
    ...(oldEndsAtMs === undefined ? [] : [`the old key works until ${toTime(oldEndsAtMs)}`]),
    '',
    'Copy the key now: it is not stored and cannot be shown again.',
  );
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
  return { ...key, start, state: key.bannedUntilMs === null ? key.state : 'banned' };
}

export function addBans(program: AppCommand): void {
  const bans = program.addGroup('bans', 'list the bans of keys and lift them');
  bans
    .addLeaf('list', 'list the banned keys; the ban that expires first comes first')
    .withExamples('bans list', 'bans list --json')
    .doesWithStore(async (store) => printTable(await store.bans.list(), banColumns, banToJson));
  bans
    .addLeaf('lift', `lift the ban of a key; ${soon}`)
    .withExamples('bans lift key_3kTMd8fZq1LxW0aB')
    .argument('<key>', 'the id of the key, as shown by "bans list"')
    .doesWithStore(async (store, _options, id: string) => {
      await store.bans.lift(id);
      return printLines({ keyId: id, lifted: true }, `the ban of ${id} is lifted`);
    });
}

const banColumns: readonly Column<ListedBan>[] = [
  { heading: 'KEY', cell: ({ keyId: id }) => id },
  { heading: 'NAME', cell: ({ keyName }) => keyName ?? '-', leavesAt: 1 },
  { heading: 'ACCOUNT', cell: ({ account }) => account },
  { heading: 'BANNED SINCE', cell: ({ beganAtMs }) => formatTime(beganAtMs), leavesAt: 2 },
  { heading: 'BANNED UNTIL', cell: ({ endsAtMs }) => formatTime(endsAtMs) },
];

function banToJson({ keyId: id, visibleStart: start, keyName: name, account, ...ban }: ListedBan) {
  return { keyId: id, start, name, account, since: toTime(ban.beganAtMs), until: toTime(ban.endsAtMs) };
}
