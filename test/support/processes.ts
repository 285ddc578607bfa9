import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';

const main = join(import.meta.dirname, '../../bin/animal-store.js');

export interface Ended {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  /** The settings. The environment of the tests is not inherited. */
  readonly settings?: Record<string, string>;
  /** The source text of a module that the process loads before the program. */
  readonly preload?: string;
  /** An open file instead of a pipe. */
  readonly stdout?: number;
  /** A command that runs the program, for example as another user. */
  readonly wrapper?: readonly string[];
  /** Whether it leads a new process group; false by default. */
  readonly isGroupLeader?: boolean;
}

/** Starts `animal-store` in a new process, as an operator does. */
export function spawnProgram(args: readonly string[], options: ProcessOptions): ChildProcess {
  const { settings, preload, stdout = 'pipe', wrapper = [], isGroupLeader = false } = options;
  const preloads =
    preload === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
  const { PATH = '' } = process.env;
  const [file = '', ...rest] = [...wrapper, process.execPath, ...preloads, main, ...args];
  return spawn(file, rest, {
    env: { PATH, ...settings },
    stdio: ['pipe', stdout, 'pipe'],
    detached: isGroupLeader,
  });
}

/** Runs a command line to its end. */
export async function runProgram(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  const child = spawnProgram(args, options);
  child.stdin?.end();
  return await readToEnd(child);
}

/** Waits until a process ends. Returns its output, and how it ended. */
export async function readToEnd(child: ChildProcess): Promise<Ended> {
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
  ]);
  return { code, signal, stdout, stderr };
}

/** A service in a new process, on free ports. */
export interface ServiceProcess {
  /** The base address, ending in `/v1`. */
  readonly url: string;
  readonly opsUrl: string;
  /** The key of an empty store in development. */
  readonly key: string | null;
  readonly child: ChildProcess;
  /** Its log so far. */
  readLog(): string;
  /** Resolves when a log line contains a text. */
  untilLogged(part: string): Promise<void>;
  /** Resolves when the process has ended. Sends the signal first, if there is one. */
  end(signal?: NodeJS.Signals): Promise<Ended>;
}

/** Runs `serve --json` and resolves when it listens. It is killed after the test. */
export async function serveInProcess(
  test: Pick<TestContext, 'after'>,
  { settings, ...options }: ProcessOptions,
): Promise<ServiceProcess> {
  const child = spawnProgram(['serve', '--json'], {
    settings: { PORT: '0', OPS_PORT: '0', ENVIRONMENT: 'staging', ...settings },
    ...options,
  });
  test.after(() => child.kill('SIGKILL'));
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  const ended = readToEnd(child);
  const stdout = child.stdout;
  const [line] =
    stdout === null ? [] : await Promise.race([once(stdout, 'data'), ended.then(() => ['null'])]);
  const told = JSON.parse(String(line)) as { url: string; opsUrl: string; key: string | null } | null;
  if (told === null) throw new Error(`the service did not start: ${log}`);
  return {
    ...told,
    child,
    readLog: () => log,
    async untilLogged(part) {
      while (!log.includes(part)) await (child.stderr && once(child.stderr, 'data'));
    },
    end(signal) {
      if (signal !== undefined) child.kill(signal);
      return ended;
    },
  };
}

const lookEveryMs = 20;

/**
 * Asks every 20 ms until the answer is right, and fails after the last attempt. The bound is a number of attempts and
 * not a time, because on a busy machine each attempt takes longer.
 */
export async function until<T>(
  ask: () => Promise<T>,
  isRight: (answer: T) => boolean,
  withinMs: number,
): Promise<T> {
  for (let looksLeft = Math.ceil(withinMs / lookEveryMs); ; looksLeft -= 1) {
    const answer = await ask();
    if (isRight(answer)) return answer;
    if (looksLeft <= 0)
      throw new Error(`not within ${withinMs} ms; the last answer was ${JSON.stringify(answer)}`);
    await setTimeout(lookEveryMs);
  }
}
