import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Lifetime } from '../../src/cli/command.ts';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { type Clock, systemClock } from '../../src/clock.ts';
import { createMovableClock, type Ending, makeFolder } from './service.ts';
import { createSqliteStore } from './sqlite-files.ts';

export interface RunOptions {
  readonly clock?: Clock;
  /** Environment variables besides DATABASE_URL. Default: the environment is staging. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** True if standard error is a terminal. */
  readonly isTTY?: boolean;
}

/** The lifetime of a process that stops as soon as it runs, and only once. */
export const lifetime: Lifetime = {
  untilStopped: () => Promise.resolve(),
  untilStoppedAgain: () => new Promise(() => undefined),
  endWithin: () => undefined,
  onCrash: () => undefined,
};

/** Runs a command line in this process. Returns its exit code and output. Quotes join the words of a text. */
export async function runInProcess(
  args: string | readonly string[],
  databaseUrl: string,
  { clock = systemClock, stdin = '', isTTY = false, settings = {} }: RunOptions = {},
) {
  const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY })];
  const written = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommandLine(typeof args === 'string' ? splitWords(args) : args, {
    environment: { ENVIRONMENT: 'staging', ...settings, DATABASE_URL: databaseUrl },
    terminal: { stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr },
    lifetime,
    clock,
  });
  stdout.end();
  stderr.end();
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns the JSON value that a command prints. Throws if the command fails. */
export async function readCommand<T>(
  args: readonly string[],
  databaseUrl: string,
  options: RunOptions = {},
): Promise<T> {
  const { code, stdout, stderr } = await runInProcess([...args, '--json'], databaseUrl, options);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as T;
}

/** Splits a command line at its spaces, except in double quotes. */
export function splitWords(line: string): string[] {
  return Array.from(line.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word = '']) => quoted ?? word);
}

/** Expects one line on standard error that matches, nothing on standard output, and this exit code. */
export function expectMistake({ code, stdout, stderr }: Ran, expectedCode: 1 | 2, line: RegExp): void {
  assert.deepEqual([code, stdout], [expectedCode, '']);
  assert.match(stderr, /^error: [^\n]+\n$/);
  assert.match(stderr, line);
}

/** Creates a SQLite store for commands, with a clock that is stopped at noon (UTC) of 2 January 2027. */
export async function createWorld(t: Ending) {
  const folder = await makeFolder(t);
  const path = join(folder, 'store.db');
  const url = `sqlite:${path}`;
  const clock = createMovableClock();
  const run = (args: string | readonly string[], options: RunOptions = {}) =>
    runInProcess(args, url, { clock: clock.now, ...options });

  /** Returns the output of a command that must succeed without a message on standard error. */
  async function print(args: string | readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await run(args);
    assert.deepEqual([code, stderr.replace(/^warning: there was no account .*\n/, '')], [0, '']);
    return stdout;
  }

  /** Runs SQL directly on the store, one statement if it has values. Returns the rows if it is one statement that returns rows. */
  function execute(sql: string, values: readonly SQLInputValue[] = []): Record<string, unknown>[] {
    using database = new DatabaseSync(path, { timeout: 5_000 });
    if (/^(?:select|with)[^;]*$/.test(sql)) return database.prepare(sql).all(...values);
    database.exec(sql);
    return [];
  }

  await createSqliteStore(path);
  return {
    folder,
    path,
    url,
    clock,
    run,
    print,
    execute,
    readJson: async (line: string) => JSON.parse(await print(`${line} --json`)),
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;

/** The address of a store that cannot be opened, because help must not open the store. */
export const unopened = 'sqlite:/nowhere/store.db';

/** The words of a command, none for the program itself, and the text of its help. */
type HelpPage = { readonly command: readonly string[]; readonly text: string };

/** Returns the help of the program and of all its commands, which the help lists recursively. */
export async function listHelp(command: readonly string[] = []): Promise<HelpPage[]> {
  const { stdout: help } = await runInProcess([...command, '--help'], unopened);
  const [, section = ''] = help.split('\nCommands:\n');
  const [listed = ''] = section.split('\n\n', 1);
  const names = Array.from(listed.matchAll(/^ {2}([\w-]+)/gm), ([, name = '']) => name);
  const below = names.filter((name) => name !== 'help').map((name) => listHelp([...command, name]));
  return [{ command, text: help }, ...(await Promise.all(below)).flat()];
}
