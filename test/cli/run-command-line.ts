import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { type Clock, systemClock } from '../../src/clock.ts';

/** Runs a command line in this process. Returns its exit code and output. */
export async function runInProcess(args: readonly string[], databaseUrl: string, clock: Clock = systemClock) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const written = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommandLine(args, {
    environment: { DATABASE_URL: databaseUrl, ENVIRONMENT: 'staging' },
    terminal: { stdin: Readable.from([]), stdout, stderr },
    lifetime: {
      untilStopped: () => Promise.resolve(),
      endWithin: () => undefined,
      onCrash: () => undefined,
    },
    clock,
  });
  stdout.end();
  stderr.end();
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}
