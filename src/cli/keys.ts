import { Command } from 'commander';
import { partnerScopes, type Scope, scopes } from '../accounts/account.ts';
import { defaultOverlapMs } from '../accounts/keyring.ts';
import {
  type JsonOption,
  jsonOption,
  type PlanOptions,
  parseAccountName,
  parseDuration,
  parseLifetime,
  parseScopeList,
  planOptions,
  readPlanOptions,
} from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeIssuedKey, writeKeys } from './key-output.ts';
import { writeJson, writeLine } from './output.ts';

/** `keys`: the life of API keys. */
export function keysCommand(context: CommandContext): Command {
  return new Command('keys')
    .description('make, list, rotate and revoke API keys')
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(rotateCommand(context))
    .addCommand(revokeCommand(context))
    .addHelpText('after', '\nExamples:\n  animal-store keys create --plan free\n  animal-store keys list');
}

interface CreateOptions extends PlanOptions, JsonOption {
  readonly account?: string;
  readonly scopes?: readonly Scope[];
  readonly expiresIn?: number;
}

function createCommand({ withStore, terminal }: CommandContext): Command {
  const command = new Command('create');
  for (const option of planOptions) command.addOption(option);
  return command
    .description('make a key, and its account unless --account names one that is there')
    .option('--account <name>', 'the account (default: a new one with a name of its own)', parseAccountName)
    .option(
      '--scopes <scopes>',
      `what the key may do: all, or some of ${scopes.join(', ')} (default: ${partnerScopes.join(', ')})`,
      parseScopeList,
    )
    .option('--expires-in <duration>', 'how long the key is valid (default: until revoked)', parseLifetime)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
Examples:
  animal-store keys create --plan free
  animal-store keys create --plan pro --account "Acme Zoo" --expires-in 30d
  animal-store keys create --account "Acme Zoo" --scopes pets:read
  animal-store keys create --account "Own shop" --scopes all
  animal-store keys create --plan enterprise --per-minute 5000 --per-day 1000000`,
    )
    .action(async ({ account, scopes: granted, expiresIn, json, ...named }: CreateOptions) => {
      const plan = readPlanOptions(named, command);
      if (plan === null && account === undefined) command.error('error: a new account needs --plan');
      const lifetimeMs = expiresIn ?? null;
      const order = { account: account ?? null, plan, scopes: granted ?? null, lifetimeMs };
      await withStore(async ({ keyring }) => writeIssuedKey(terminal, await keyring.issue(order), json));
    });
}

function listCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('list')
    .description('list all keys, ended ones too')
    .addOption(jsonOption)
    .addHelpText('after', '\nExamples:\n  animal-store keys list\n  animal-store keys list --json')
    .action(async ({ json }: JsonOption) => {
      await withStore(async ({ keyring }) => writeKeys(terminal, await keyring.list(), json));
    });
}

function rotateCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('rotate')
    .description('make a key in place of one, which stays valid for a while')
    .argument('<id>', 'the id of the key, as in keys list')
    .option('--overlap <duration>', 'how long the old key stays valid (default: 24h)', parseDuration)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
Examples:
  animal-store keys rotate key_3kTMd8fZq1LxW0aB
  animal-store keys rotate key_3kTMd8fZq1LxW0aB --overlap 0`,
    )
    .action(async (id: string, options: JsonOption & { readonly overlap?: number }) => {
      const { overlap = defaultOverlapMs, json } = options;
      await withStore(async ({ keyring }) =>
        writeIssuedKey(terminal, await keyring.rotate(id, overlap), json),
      );
    });
}

function revokeCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('revoke')
    .description('end a key for good; a running service follows within 2 seconds')
    .argument('<id>', 'the id of the key, as in keys list')
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store keys revoke key_3kTMd8fZq1LxW0aB')
    .action(async (id: string, { json }: JsonOption) => {
      await withStore(({ keyring }) => keyring.revoke(id));
      if (json) writeJson(terminal, { id, state: 'revoked' });
      else writeLine(terminal, `${id} is revoked`);
    });
}
