#!/usr/bin/env node
import { runCommandLine } from './cli/command-line.ts';

/** Within this time a second SIGINT is the same Ctrl-C: the terminal sends one, and npm passes its own on. */
const sameInterruptMs = 500;

/** Whether it runs until it is stopped: a service goes on without its log, and that it could not be written is no failure. */
let outlivesOutput = false;

/** Settles at the first SIGTERM or SIGINT. A SIGINT after it ends the process as if nobody listened. */
function untilStopped(): Promise<void> {
  outlivesOutput = true;
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve());
    process.on('SIGINT', () => {
      resolve();
      setTimeout(() => process.removeAllListeners('SIGINT'), sameInterruptMs).unref();
    });
  });
}

/**
 * Ends the process at once. `process.exit` waits for a thread that is inside SQLite, and so for a disk that hangs;
 * replacing the process by a program that ends does not. Node's permission model may forbid that.
 */
function endNow(): void {
  const code = process.exitCode ?? 0;
  try {
    process.execve?.(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {});
  } catch {}
  process.exit();
}

let tellCrash: (error: unknown) => void = () => undefined;

/** A promise that was rejected and nobody caught comes here, too. */
process.on('uncaughtException', (error) => {
  tellCrash(error);
  process.exit(1);
});

let isOutputFailureTold = false;

/** A reader that has seen enough is no failure; what else keeps the output from being written is told once. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  if (!outlivesOutput) process.exitCode = 1;
  if (isOutputFailureTold) return;
  isOutputFailureTold = true;
  process.stderr.write(`error: standard output cannot be written: ${error.message}\n`);
});
process.stderr.on('error', () => undefined);

const exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  terminal: process,
  lifetime: {
    untilStopped,
    endWithin: (ms) => setTimeout(endNow, ms).unref(),
    onCrash(tell) {
      tellCrash = tell;
    },
  },
});
process.exitCode ||= exitCode;
