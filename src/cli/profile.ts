import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { secondMs } from '../clock.ts';
import type { Config } from '../config.ts';
import { OperatorError, reasonOf, UsageError } from '../errors.ts';
import { formatBytes } from '../format.ts';
import { type ProfileKind, profilePath, profileSecondsMax } from '../operator/session-changes.ts';
import { requireNotStore } from '../storage/store-address.ts';
import type { AppCommand, CommandContext, Printed } from './command.ts';
import { printLines } from './command.ts';
import { requireOpsPort } from './console.ts';
import { writeToEnd } from './output.ts';
import { parseDuration, parserOf } from './parsers.ts';
import { writeWholeFile } from './whole-file.ts';

interface ProfileOptions {
  /** Milliseconds. */
  readonly cpu?: number;
  readonly heap: boolean;
  readonly to: string;
  readonly force: boolean;
}

const parseProfileTime = parserOf((text) => {
  const ms = parseDuration(text);
  return ms >= secondMs && ms <= profileSecondsMax * secondMs ? ms : null;
}, `It must be 1s to ${profileSecondsMax}s.`);

export function addProfile(program: AppCommand): void {
  const profile: AppCommand = program
    .addLeaf('profile', 'write a CPU profile or a heap snapshot of the service that runs on this machine')
    .withExamples(
      'profile --cpu 10s --to - > slow.cpuprofile',
      'profile --heap --to /var/lib/animal-store/now.heapsnapshot',
    )
    .withNotes(`It asks the operator's port of the settings. Open the file in the developer
tools of Chromium. A heap snapshot has all secrets of the process, such as API
keys, so only its owner may read the file. The service answers nothing while it
makes a snapshot, about a second for each 100 MB.`)
    .option('--cpu <duration>', 'what the main thread does in this time, as in 10s', parseProfileTime)
    .option('--heap', 'all objects in memory', false)
    .requiredOption('--to <file>', 'the file to write, or - for standard output')
    .option('--force', 'replace an existing file', false);
  profile.does(async (context, options: ProfileOptions) => {
    const { cpu, heap, to, force } = options;
    if (heap === (cpu !== undefined)) throw new UsageError('name either --cpu or --heap');
    const ask = () => requestProfile(context, heap ? 'heap' : 'cpu', cpu ?? secondMs);
    if (to === '-') return streamProfile(context, profile.opts()['json'] === true, ask);
    await requireNotStore(to, context.readConfig().databaseUrl);
    await writeWholeFile(to, { replaces: force, mode: 0o600 }, async (unfinished) =>
      pipeline(await ask(), createWriteStream(unfinished)),
    );
    const { size: bytes } = await stat(to);
    return printLines({ file: to, bytes }, `wrote ${to} (${formatBytes(bytes)})`);
  });
}

async function streamProfile(
  { terminal: { stdout } }: CommandContext,
  isJson: boolean,
  ask: () => Promise<Readable>,
): Promise<Printed> {
  if (isJson) throw new UsageError('a profile to standard output leaves no room for --json');
  if (stdout.isTTY)
    throw new UsageError('a profile does not go to a terminal: name a file, or pipe it to a program');
  await writeToEnd(await ask(), stdout);
  return printLines(null);
}

/** Returns the profile that the service sends. Throws OperatorError if it does not answer, or refuses. */
async function requestProfile(
  { readConfig, withStore }: CommandContext,
  kind: ProfileKind,
  ms: number,
): Promise<Readable> {
  const url = findUrl(readConfig());
  const pass = await withStore(({ sessions }) => sessions.makePass(kind));
  const answer = await fetch(`${url}${profilePath}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${pass}`, 'content-type': 'application/json' },
    body: JSON.stringify({ kind, seconds: Math.ceil(ms / secondMs) }),
  }).catch((error) => {
    throw new OperatorError(`no service answers at ${url}: ${reasonOf(error.cause ?? error)}`, {
      cause: error,
    });
  });
  if (answer.ok && answer.body !== null) return Readable.fromWeb(answer.body);
  const { message = `status ${answer.status}` } = (await answer.json().catch(() => ({}))) as {
    message?: string;
  };
  throw new OperatorError(`the service at ${url} refuses: ${message}`);
}

/** Returns the address of the operator's port from this machine. */
function findUrl(config: Config): string {
  const { opsHost } = config;
  const host = opsHost === '0.0.0.0' || opsHost === '::' ? '127.0.0.1' : opsHost;
  return `http://${host.includes(':') ? `[${host}]` : host}:${requireOpsPort(config)}`;
}
