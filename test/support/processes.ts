import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { type Ending, makeFolder } from './service.ts';

const main = join(import.meta.dirname, '../../bin/animal-store.js');

export interface Ended {
  /** Null if a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessOptions {
  /** Environment variables of the process. It inherits only PATH. */
  readonly settings?: Record<string, string>;
  /** The source text of a module that the process loads before the program. */
  readonly preload?: string;
  /** The descriptor of an open file for standard output. Default: a pipe. */
  readonly stdout?: number;
  /** A command that runs the program given as its last arguments, for example as another user. */
  readonly wrapper?: readonly string[];
  /** The program, such as that of another release. Default: that of this one. */
  readonly program?: string;
}

/** Starts `animal-store` in a new process. */
export function spawnProgram(args: readonly string[], options: ProcessOptions): ChildProcess {
  const { settings, preload, stdout = 'pipe', wrapper = [], program = main } = options;
  const preloads =
    preload === undefined ? [] : ['--import', `data:text/javascript,${encodeURIComponent(preload)}`];
  const { PATH = '' } = process.env;
  const [file = '', ...rest] = [...wrapper, process.execPath, ...preloads, program, ...args];
  return spawn(file, rest, {
    env: { PATH, ...settings },
    stdio: ['pipe', stdout, 'pipe'],
  });
}

/** Runs `animal-store` with these arguments until it ends. */
export async function runProgram(args: readonly string[], options: ProcessOptions = {}): Promise<Ended> {
  const child = spawnProgram(args, options);
  child.stdin?.end();
  return await readToEnd(child);
}

/** Waits until a process ends. Returns its output and its exit code or signal. */
export async function readToEnd(child: ChildProcess): Promise<Ended> {
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, 'close'),
    child.stdout === null ? '' : text(child.stdout),
    child.stderr === null ? '' : text(child.stderr),
  ]);
  return { code, signal, stdout, stderr };
}

export type ServiceProcess = Awaited<ReturnType<typeof serveInProcess>>;

/** Runs `serve --json`, on a new store by default, and resolves when the service listens. Kills it after the test. */
export async function serveInProcess(test: Ending, { settings: given, ...options }: ProcessOptions = {}) {
  const DATABASE_URL = given?.['DATABASE_URL'] ?? `sqlite:${await makeFolder(test)}/store.db`;
  const settings = { PORT: '0', OPS_PORT: '0', ENVIRONMENT: 'staging', ...given, DATABASE_URL };
  const child = spawnProgram(['serve', '--json'], { settings, ...options });
  test.after(() => child.kill('SIGKILL'));
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  const ended = readToEnd(child);
  const stdout = child.stdout;
  const [line] =
    stdout === null ? [] : await Promise.race([once(stdout, 'data'), ended.then(() => ['null'])]);
  // The key is the first key that a service creates on an empty store in development. Otherwise null.
  const told = JSON.parse(String(line)) as { url: string; opsUrl: string; key: string | null } | null;
  if (told === null) throw new Error(`the service did not start: ${log}`);
  return {
    ...told,
    child,
    settings,
    readLog: () => log,
    /** Resolves when the log contains a text. */
    async untilLogged(part: string): Promise<void> {
      while (!log.includes(part)) await (child.stderr && once(child.stderr, 'data'));
    },
    /** Sends the signal, if one is given. Resolves when the process has ended. */
    end(signal?: NodeJS.Signals): Promise<Ended> {
      if (signal !== undefined) child.kill(signal);
      return ended;
    },
  };
}

export const succeeds = (call: Promise<unknown>): Promise<boolean> =>
  call.then(
    () => true,
    () => false,
  );

const lookEveryMs = 20;

/**
 * Calls `ask` until `isRight` accepts the answer. Rejects after as many attempts as fit into `withinMs` if each is instant,
 * because on a busy machine each takes longer.
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
      throw new Error(
        `no accepted answer within ${withinMs} ms; the last answer was ${JSON.stringify(answer)}`,
      );
    await setTimeout(lookEveryMs);
  }
}
