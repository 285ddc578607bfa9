#!/usr/bin/env node
import { runCommandLine } from './cli/command-line.ts';

/** Within this time, a second SIGINT belongs to the same Ctrl-C: the terminal sends one, and npm forwards another. */
const sameInterruptMs = 500;

/** True for a service. If standard output fails, it continues, and its exit code stays 0. */
let outlivesOutput = false;

const stoppedAgain = Promise.withResolvers<void>();

/** Node would open a debugger, which lets every user of the machine run code in this process. */
process.on('SIGUSR1', () => undefined);

/** Resolves at the first SIGTERM or SIGINT. A later SIGINT ends the process at once. A closed terminal ends nothing. */
function untilStopped(): Promise<void> {
  outlivesOutput = true;
  process.on('SIGHUP', () => undefined);
  return new Promise((resolve) => {
    process.once('SIGTERM', () => {
      resolve();
      process.on('SIGTERM', () => stoppedAgain.resolve());
    });
    process.on('SIGINT', () => {
      resolve();
      setTimeout(() => process.removeAllListeners('SIGINT'), sameInterruptMs).unref();
    });
  });
}

/**
 * Ends the process at once, even if the disk hangs. `process.exit` would wait for a thread inside SQLite, and so for the
 * disk. `execve` replaces the process by a program that exits. Node's permission model may forbid it.
 */
function endNow(): void {
  const code = process.exitCode ?? 0;
  try {
    process.execve?.(process.execPath, [process.execPath, '-e', `process.exit(${code})`], {});
  } catch {}
  process.exit();
}

let reportCrash: (error: unknown) => void = () => undefined;

/** Unhandled rejections arrive here too. */
process.on('uncaughtException', (error) => {
  reportCrash(error);
  process.exit(1);
});

let isOutputFailureReported = false;

/** EPIPE means that the reader has closed, which is not a failure. Any other failure to write is reported once. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  if (!outlivesOutput) process.exitCode = 1;
  if (isOutputFailureReported) return;
  isOutputFailureReported = true;
  process.stderr.write(`error: standard output cannot be written: ${error.message}\n`);
});
process.stderr.on('error', () => undefined);

const exitCode = await runCommandLine(process.argv.slice(2), {
  environment: process.env,
  terminal: process,
  lifetime: {
    untilStopped,
    untilStoppedAgain: () => stoppedAgain.promise,
    endWithin: (ms) => setTimeout(endNow, ms).unref(),
    onCrash(report) {
      reportCrash = report;
    },
  },
});
process.exitCode ||= exitCode;
