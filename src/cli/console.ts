import { commandActor } from '../audit/audit-log.ts';
import type { Config } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { toTime } from '../format.ts';
import { consolePath, createSessions } from '../operator/sessions.ts';
import { type AppCommand, printLines } from './command.ts';
import { countThings } from './output.ts';

export function addConsole(program: AppCommand): void {
  program
    .addLeaf('console', 'print a link that signs in to the web console once, within 10 minutes')
    .withExamples('console', 'console --revoke')
    .withNotes(`A running service serves the console on the operator's port. A session expires
after 12 hours.`)
    .option('--revoke', 'end all sessions and links instead of printing a link', false)
    .does(async ({ withStore, readConfig, clock }, { revoke }: { readonly revoke: boolean }) => {
      const address = revoke ? '' : findAddress(readConfig());
      return withStore(async ({ database }) => {
        const sessions = createSessions(database, clock);
        if (revoke) {
          const ended = await sessions.revokeAll();
          const sessionCount = countThings(ended, 'session');
          return printLines({ ended }, `${sessionCount} ended; earlier links no longer work`);
        }
        const { token, expiresAtMs } = await sessions.makeLink(commandActor().name);
        const url = `${address}#sign-in=${token}`;
        return printLines({ url, expiresAt: toTime(expiresAtMs) }, url);
      });
    });
}

/** Returns the URL of the console for a browser. Throws OperatorError if the settings do not determine it. */
function findAddress({ consoleUrl, opsHost, opsPort }: Config): string {
  if (consoleUrl !== null) return consoleUrl;
  const reason = 'OPS_PORT is 0, so this command cannot know the port of the service';
  if (opsPort === 0) throw new OperatorError(`${reason}: set CONSOLE_URL`);
  const isLoopback = opsHost === 'localhost' || opsHost === '::1' || opsHost.startsWith('127.');
  const host = isLoopback ? opsHost : '127.0.0.1';
  return `http://${host.includes(':') ? `[${host}]` : host}:${opsPort}${consolePath}`;
}
