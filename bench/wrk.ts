import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Request } from './exchange.ts';

/** What is sent to a server: the requests in turn, over and over, from so many connections. */
export interface Load {
  readonly requests: readonly Request[];
  readonly headers: Readonly<Record<string, string>>;
  readonly connections: number;
  /** Where each request is to have an Idempotency-Key of its own, how those of this load begin. */
  readonly keysBegin?: string;
}

/** What the load generator saw; every answer was a 2xx. */
export interface Seen {
  readonly requests: number;
  readonly seconds: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const run = promisify(execFile);
const script = join(import.meta.dirname, 'wrk.lua');
const patienceSeconds = 20;

/** Throws, and says how to get it, where the load generator is missing. */
export function requireWrk(): void {
  if (spawnSync('wrk', ['-v']).error === undefined) return;
  throw new Error(
    'the load generator wrk is missing; install it with "apt-get install wrk" (Debian, Ubuntu), "dnf install wrk" (Fedora) or "brew install wrk" (macOS)',
  );
}

/** Writes the requests of a load where `sendLoad` reads them, and gives the file. */
export function writeRequests(folder: string, name: string, requests: readonly Request[]): string {
  const file = join(folder, `${name}.requests`);
  const lines = requests.map(({ method, path, body = '' }) => `${method}\t${path}\t${body}\n`);
  writeFileSync(file, lines.join(''));
  return file;
}

/** How long the slowest of servers is loaded for a first answer. */
const slowSecondsMax = 16;

/**
 * Loads a server for some seconds, or for twice as many, and so on, where it gave not one answer. Throws where a single request failed or was not
 * answered with a 2xx.
 */
export async function sendLoad(
  origin: string,
  load: Load,
  requestsFile: string,
  seconds: number,
): Promise<Seen> {
  const { stdout } = await run(
    'wrk',
    [
      ...['-t', '1', '-c', String(load.connections), '-d', `${seconds}s`, '--timeout', `${patienceSeconds}s`],
      ...Object.entries(load.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      ...['-s', script, origin, '--', requestsFile],
      ...(load.keysBegin === undefined ? [] : [load.keysBegin]),
    ],
    { timeout: (seconds + patienceSeconds) * 1_000 },
  );
  const counted = readResult(stdout);
  if (counted.requests === 0 && seconds < slowSecondsMax)
    return sendLoad(origin, load, requestsFile, seconds * 2);
  if (counted.requests === 0 || counted.refused + counted.broken > 0)
    throw new Error(
      `${counted.refused} of ${counted.requests} answers were no 2xx, ${counted.broken} requests failed`,
    );
  return {
    requests: counted.requests,
    seconds: counted.microseconds / 1e6,
    requestsPerSecond: (counted.requests * 1e6) / counted.microseconds,
    p50Ms: counted.p50 / 1_000,
    p99Ms: counted.p99 / 1_000,
  };
}

interface Counted {
  readonly requests: number;
  readonly microseconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly refused: number;
  readonly broken: number;
}

function readResult(output: string): Counted {
  const [, text] = /^RESULT (.*)$/m.exec(output) ?? [];
  if (text === undefined) throw new Error(`wrk gave no result: ${output}`);
  return JSON.parse(text) as Counted;
}
