import { Command } from 'commander';
import { commandActor } from '../audit/audit-entry.ts';
import type { Config } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { consolePath } from '../operator/console/hosts.ts';
import { createSessions } from '../operator/sessions/sessions.ts';
import { type JsonOption, jsonOption } from './arguments.ts';
import type { CommandContext } from './context.ts';
import { countThings } from './count-things.ts';
import { toIsoTime, writeJson, writeLine } from './output.ts';

interface ConsoleOptions extends JsonOption {
  readonly revoke?: true;
}

export function consoleCommand({ withStore, readConfig, clock, terminal }: CommandContext): Command {
  return new Command('console')
    .description('print a link that signs in to the web console once, within 10 minutes')
    .option('--revoke', 'end all sessions and links instead of printing a link')
    .addOption(jsonOption)
    .addHelpText(
      'after',
      `
A running service serves the console on the operator's port. A session expires
after 12 hours.

Examples:
  animal-store console
  animal-store console --revoke`,
    )
    .action(async ({ revoke, json }: ConsoleOptions) => {
      if (revoke) {
        const ended = await withStore(({ database }) => createSessions(database, clock).revokeAll());
        if (json) writeJson(terminal, { ended });
        else writeLine(terminal, `${countThings(ended, 'session')} ended; earlier links no longer work`);
        return;
      }
      const address = findAddress(readConfig());
      const made = await withStore(({ database }) =>
        createSessions(database, clock).makeLink(commandActor().name),
      );
      const link = `${address}#sign-in=${made.token}`;
      if (json) writeJson(terminal, { url: link, expiresAt: toIsoTime(made.expiresAtMs) });
      else writeLine(terminal, link);
    });
}

/** Returns the URL of the console for a browser. Throws OperatorError if the settings do not determine it. */
function findAddress({ consoleUrl, opsHost, opsPort }: Config): string {
  if (consoleUrl !== null) return consoleUrl;
  if (opsPort === 0)
    throw new OperatorError(
      'OPS_PORT is 0, so this command cannot know the port of the service: set CONSOLE_URL',
    );
  const isLoopback = opsHost === 'localhost' || opsHost === '::1' || opsHost.startsWith('127.');
  const host = isLoopback ? opsHost : '127.0.0.1';
  return `http://${host.includes(':') ? `[${host}]` : host}:${opsPort}${consolePath}`;
}
