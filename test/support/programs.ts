import assert from 'node:assert/strict';
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import type { Ending } from './service.ts';

/** Returns false if this machine can start a program, otherwise the reason. With CI=true, throws instead. */
export async function whyNoProgram(name: string, option = '--version'): Promise<string | false> {
  const child = spawn(name, [option], { stdio: 'ignore' });
  const [code] = await once(child, 'exit').catch(() => [null]);
  return code === 0 ? false : refuseInCi(`SKIPPED: there is no ${name} to start for the tests; install one`);
}

/** Returns the reason for skipping tests. With CI=true, throws it instead. */
export function refuseInCi(reason: string): string {
  if (process.env['CI'] === 'true') throw new Error(reason);
  return reason;
}

/** Returns a function that declares a test, which is skipped if there is a reason. */
export const testsUnless =
  (skip: string | false) => (title: string, body: (t: TestContext) => Promise<void> | void) =>
    test(title, { skip }, body);

/** Sends a signal to a process that still runs, and resolves when it has ended. */
export async function endProgram(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

/** Resolves when a program prints a text. Rejects with its output if it ends before. */
export async function untilPrinted(output: Readable | null, part: string): Promise<void> {
  const lines: string[] = [];
  for await (const line of createInterface(output ?? assert.fail('the program has no output'))) {
    lines.push(line);
    if (!line.includes(part)) continue;
    output?.resume();
    return;
  }
  throw new Error(`the program does not start: ${lines.join('\n')}`);
}

/** Creates a folder for programs. After the test, they are ended by `end`, and the folder is removed. */
export async function makeProgramFolder(
  test: Ending,
  end: (child: ChildProcess) => Promise<void> = endProgram,
) {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-program-'));
  const children: ChildProcess[] = [];
  test.after(async () => {
    for (const child of children) await end(child);
    await rm(folder, { recursive: true });
  });
  return {
    folder,
    start(program: string, args: readonly string[], options: SpawnOptions): ChildProcess {
      const child = spawn(program, args, options);
      children.push(child);
      return child;
    },
  };
}
