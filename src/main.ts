#!/usr/bin/env node
import { runCommandLine } from './cli/command-line.ts';

/** A second SIGINT within this time belongs to the same Ctrl-C: the terminal sends one, and npm forwards its own. */
const sameInterruptMs = 500;

/**
 * Whether the command runs until a signal stops it. A service keeps running, and exits 0, when its log cannot be
 * written.
 */
let outlivesOutput = false;

/** Settles at the first SIGTERM or SIGINT. A later SIGINT ends the process at once. */
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
 * Ends the process at once. `process.exit` waits for a thread inside SQLite, and so for a disk that hangs. Replacing
 * the process by a program that exits does not wait. Node's permission model may forbid that.
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

/** A closed reader (EPIPE) is not a failure. Any other failure to write is reported once. */
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
    endWithin: (ms) => setTimeout(endNow, ms).unref(),
    onCrash(report) {
      reportCrash = report;
    },
  },
});
process.exitCode ||= exitCode;
