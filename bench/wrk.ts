import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Request, RequestHeaders } from './exchange.ts';

/** The load on a server: requests in turn, repeated, over a number of connections. */
export interface Load {
  readonly requests: readonly Request[];
  readonly headers: RequestHeaders;
  readonly connections: number;
  /** How many requests to skip at the start. */
  readonly skipped?: number;
  /** The prefix of the Idempotency-Key of each request. */
  readonly keyPrefix?: string;
}

/** The result of the load generator. No answer failed. */
export interface Seen {
  readonly requests: number;
  readonly seconds: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

const run = promisify(execFile);
const script = join(import.meta.dirname, 'wrk.lua');
const timeoutSeconds = 20;
const slowSecondsMax = 16;

/** Throws if the load generator is missing. The message says how to install it. */
export function requireWrk(): void {
  if (spawnSync('wrk', ['-v']).error === undefined) return;
  throw new Error(
    'the load generator wrk is missing; install it with "apt-get install wrk" (Debian, Ubuntu), "dnf install wrk" (Fedora) or "brew install wrk" (macOS)',
  );
}

/** Writes the requests of a load for `sendByWrk`. */
export function writeRequests(file: string, requests: readonly Request[]): void {
  const lines = requests.map(
    ({ method, path, ifNoneMatch = '', body = '' }) => `${method}\t${path}\t${ifNoneMatch}\t${body}\n`,
  );
  writeFileSync(file, lines.join(''));
}

/**
 * Loads a server for some seconds, or for twice as many if it gave no answer. Throws if a request failed. wrk waits for
 * the body that a HEAD announces, so it cannot send HEAD.
 */
export async function sendByWrk(origin: string, load: Load, file: string, seconds: number): Promise<Seen> {
  const { connections, headers, skipped = 0, keyPrefix } = load;
  const { stdout } = await run(
    'wrk',
    [
      ...['-t', '1', '-c', String(connections), '-d', `${seconds}s`, '--timeout', `${timeoutSeconds}s`],
      ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
      ...['-s', script, origin, '--', file, String(skipped)],
      ...(keyPrefix === undefined ? [] : [keyPrefix]),
    ],
    { timeout: (seconds + timeoutSeconds) * 1_000 },
  );
  const counted = readResult(stdout);
  if (counted.requests === 0 && seconds < slowSecondsMax) return sendByWrk(origin, load, file, seconds * 2);
  if (counted.requests === 0 || counted.refused + counted.broken > 0)
    throw new Error(
      `${counted.refused} of ${counted.requests} answers were failures, ${counted.broken} requests broke`,
    );
  return {
    requests: counted.requests,
    seconds: counted.microseconds / 1e6,
    requestsPerSecond: (counted.requests * 1e6) / counted.microseconds,
    p99Ms: counted.p99 / 1_000,
  };
}

interface Counted {
  readonly requests: number;
  readonly microseconds: number;
  readonly p99: number;
  readonly refused: number;
  readonly broken: number;
}

function readResult(output: string): Counted {
  const [, text] = /^RESULT (.*)$/m.exec(output) ?? [];
  if (text === undefined) throw new Error(`wrk gave no result: ${output}`);
  return JSON.parse(text) as Counted;
}
