import { Command } from 'commander';
import { partnerScopes, type Scope, scopes } from '../accounts/account.ts';
import { defaultOverlapMs } from '../accounts/keyring.ts';
import type { MadeWebhook } from '../webhooks/operator-webhooks.ts';
import {
  type JsonOption,
  jsonOption,
  type PlanOptions,
  parseAccountName,
  parseDuration,
  parseLifetime,
  parseName,
  parseScopeList,
  planOptions,
  readPlanOptions,
} from './arguments.ts';
import type { CommandContext } from './context.ts';
import { writeIssuedKey, writeKeys } from './key-output.ts';
import { writeJson, writeLine, writeWarning } from './output.ts';
import type { Terminal } from './terminal.ts';

export function keysCommand(context: CommandContext): Command {
  return new Command('keys')
    .description('create, list, rotate and revoke API keys')
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(rotateCommand(context))
    .addCommand(revokeCommand(context))
    .addHelpText('after', '\nExamples:\n  animal-store keys create --plan free\n  animal-store keys list');
}

interface CreateOptions extends PlanOptions, JsonOption {
  readonly account?: string;
  readonly name?: string;
  readonly scopes?: readonly Scope[];
  readonly expiresIn?: number;
}

function createCommand({ withStore, terminal }: CommandContext): Command {
  const command = new Command('create');
  for (const option of planOptions) command.addOption(option);
  return command
    .description('create a key, and its account if it does not exist')
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
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
Examples:
  animal-store keys create --plan free
  animal-store keys create --plan pro --account "Acme Zoo" --expires-in 30d
  animal-store keys create --account "Acme Zoo" --name Warehouse --scopes pets:read
  animal-store keys create --account "Own shop" --scopes all
  animal-store keys create --plan enterprise --per-minute 5000 --per-day 1000000`,
    )
    .action(async ({ account, name, scopes: granted, expiresIn, json, ...named }: CreateOptions) => {
      const plan = readPlanOptions(named, command);
      if (plan === null && account === undefined) command.error('error: a new account needs --plan');
      const lifetimeMs = expiresIn ?? null;
      const order = {
        account: account ?? null,
        plan,
        name: name ?? null,
        scopes: granted ?? null,
        lifetimeMs,
      };
      const issued = await withStore(({ keyring }) => keyring.issue(order));
      writeIssuedKey(terminal, issued, json);
      if (account !== undefined && issued.isNewAccount)
        writeWarning(terminal, `there was no account "${account}": a new one was created`);
    });
}

function listCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('list')
    .description('list keys, also expired and revoked ones')
    .option('--account <name>', 'only the keys of this account', parseAccountName)
    .addOption(jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  animal-store keys list --account "Acme Zoo"\n  animal-store keys list --json',
    )
    .action(async ({ account, json }: JsonOption & { readonly account?: string }) => {
      await withStore(async ({ keyring }) => writeKeys(terminal, await keyring.list(account), json));
    });
}

function rotateCommand({ withStore, terminal }: CommandContext): Command {
  return new Command('rotate')
    .description('replace a key with a new one; the old key stays valid for 24h, or for --overlap')
    .argument('<id>', 'the id of the key, as shown by "keys list"')
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
    .description('revoke a key; effective within 2 seconds (5 with several instances)')
    .argument('<id>', 'the id of the key, as shown by "keys list"')
    .option('--disable-webhooks', 'also disable the webhooks that the key created')
    .addOption(jsonOption)
    .addHelpText('after', '\nExample:\n  animal-store keys revoke key_3kTMd8fZq1LxW0aB')
    .action(async (id: string, options: RevokeOptions) => {
      const { disableWebhooks = false, json } = options;
      const webhooks = await withStore(async ({ keyring, allWebhooks }) => {
        await keyring.revoke(id);
        if (disableWebhooks) await allWebhooks.disableOfKey(id);
        return await allWebhooks.listOfKey(id);
      });
      if (json) writeJson(terminal, { id, state: 'revoked', webhooks });
      else writeRevoked(terminal, id, webhooks);
    });
}

interface RevokeOptions extends JsonOption {
  readonly disableWebhooks?: boolean;
}

/** Lists the webhooks that the key created, because revoking a key does not disable them. */
function writeRevoked(terminal: Terminal, id: string, webhooks: readonly MadeWebhook[]): void {
  writeLine(terminal, `${id} is revoked`);
  for (const webhook of webhooks)
    writeLine(terminal, `its webhook ${webhook.id} to ${webhook.url} is ${webhook.status}`);
}
