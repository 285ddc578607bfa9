import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownHeaders, type Request, type RequestHeaders } from './exchange.ts';

/** A load on a server: requests that are sent in turn, again and again, over several connections. */
export interface Load {
  readonly requests: readonly Request[];
  readonly headers: RequestHeaders;
  readonly connections: number;
  /** Number of requests to skip at the start. Default: 0. */
  readonly skipped?: number;
  /** The prefix of the Idempotency-Keys. Without a prefix, requests have no key. */
  readonly keyPrefix?: string;
}

/** The result of a load in which every request succeeded. */
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

/** Writes requests into a file for `sendByWrk`. */
export function writeRequests(file: string, requests: readonly Request[]): void {
  const lines = requests.map((request) => {
    const { 'content-type': _, ...conditions } = ownHeaders(request);
    const condition = Object.entries(conditions).map(([name, value]) => `${name}: ${value}`);
    return `${request.method}\t${request.path}\t${condition.join()}\t${request.body ?? ''}\n`;
  });
  writeFileSync(file, lines.join(''));
}

/**
 * Loads a server for `seconds`. If no answer came, repeats the load for twice as long. Throws if a request failed. The
 * requests cannot be HEAD, because wrk would wait for the announced body.
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
