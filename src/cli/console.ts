import type { Config } from '../config.ts';
import { OperatorError, UsageError } from '../errors.ts';
import { toTime } from '../format.ts';
import { consolePath, type ListedSession } from '../operator/sessions.ts';
import type { Store } from '../store.ts';
import { type AppCommand, type Printed, printLines, printTable } from './command.ts';
import { type Column, countThings, formatTime } from './output.ts';

interface ConsoleOptions {
  readonly list: boolean;
  readonly end?: string;
  readonly revoke: boolean;
}

export function addConsole(program: AppCommand): void {
  program
    .addLeaf('console', 'print a link that signs in to the web console once, within 10 minutes')
    .withExamples('console', 'console --as mira', 'console --list', 'console --revoke')
    .withNotes(`A running service serves the console on the operator's port. A session expires
after 12 hours. The link is for the operator of --as, without it for the person
behind sudo, else for the system user.`)
    .option('--list', 'list the sessions and the tokens of operators instead of printing a link', false)
    .option('--end <id>', 'end this session or token instead of printing a link')
    .option('--revoke', 'end all sessions and links instead of printing a link', false)
    .does(async ({ withStore, readConfig, claimed, person }, { list, end, revoke }: ConsoleOptions) => {
      if ([list, end !== undefined, revoke].filter(Boolean).length > 1)
        throw new UsageError('--list, --end and --revoke exclude each other');
      if (list) return withStore(async ({ sessions }) => printTable(await sessions.list(), columns));
      if (end !== undefined) return withStore((store) => endOne(store, end));
      if (revoke) return withStore(endAll);
      const address = findAddress(readConfig());
      return withStore(async ({ sessions }) => {
        const { token, expiresAtMs } = await sessions.makeLink(claimed ?? person, claimed !== null);
        const url = `${address}#sign-in=${token}`;
        return printLines({ url, expiresAt: toTime(expiresAtMs) }, url);
      });
    });
}

async function endOne({ sessions }: Store, id: string): Promise<Printed> {
  await sessions.end(id);
  return printLines({ id, ended: true }, `${id} has ended`);
}

async function endAll({ sessions }: Store): Promise<Printed> {
  const ended = await sessions.revokeAll();
  return printLines({ ended }, `${countThings(ended, 'session')} ended; earlier links no longer work`);
}

const columns: readonly Column<ListedSession>[] = [
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'KIND', cell: ({ kind }) => kind },
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'ROLE', cell: ({ role }) => role ?? '-' },
  { heading: 'CREATED', cell: ({ createdAtMs }) => formatTime(createdAtMs), leavesAt: 1 },
  { heading: 'EXPIRES', cell: ({ expiresAtMs }) => formatTime(expiresAtMs) },
];

/** Returns the URL of the console for a browser. Throws OperatorError if the settings do not determine it. */
function findAddress({ consoleUrl, opsHost, opsPort }: Config): string {
  if (consoleUrl !== null) return consoleUrl;
  const port = requireOpsPort({ opsPort }, ': set CONSOLE_URL');
  // The console refuses the name or address of another host, so a service that listens on all of them is called by loopback.
  const isLoopback = opsHost === 'localhost' || opsHost === '::1' || opsHost.startsWith('127.');
  const host = isLoopback ? opsHost : '127.0.0.1';
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${consolePath}`;
}

/** Returns the port of the service. Throws OperatorError, with the remedy, if the service chooses one. */
export function requireOpsPort({ opsPort }: Pick<Config, 'opsPort'>, remedy = ''): number {
  if (opsPort !== 0) return opsPort;
  throw new OperatorError(`OPS_PORT is 0, so this command cannot know the port of the service${remedy}`);
}
