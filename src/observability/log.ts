import type { Writable } from 'node:stream';
import { type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { Registry } from 'prom-client';
import { secondMs } from '../clock.ts';
import type { LogLevel } from '../config.ts';
import { expose } from './metrics.ts';
import { redactKeys } from './safe-text.ts';

/** Maximum number of characters of log lines that wait for the output. */
export const waitingCharactersMax = 2 ** 20;

/**
 * The service's log. The lines of one turn of the event loop are written together, or at once by `flush` and `fatal`. Keys
 * are redacted only in the field `err`. Pass any other text from a client through `redactKeys` first.
 */
export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'fatal' | 'flush' | 'level'> & {
  /** Returns the number of lines dropped since the start, because the reader stalled or a write failed. */
  countDropped(): number;
};

/** Creates a log that writes one JSON object per line, and readable lines on a terminal. */
export function createLog(
  level: LogLevel,
  output: Writable & { readonly isTTY?: boolean; hasColors?(): boolean },
): Log {
  const target = output.isTTY
    ? pretty({
        destination: output,
        colorize: output.hasColors?.() ?? false,
        ignore: 'pid,hostname',
        singleLine: true,
        sync: true,
      })
    : output;
  const buffer = bufferLines(target, (dropped) =>
    log.error({ dropped }, 'log lines were dropped: the reader of the log stalled, or a write failed'),
  );
  const log: Logger = pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime, serializers: { err: describeError } },
    buffer,
  );
  return Object.assign(log, { countDropped: buffer.countDropped });
}

export function exposeDroppedLines(registry: Registry, log: Log): void {
  const help = 'Log lines dropped because the reader stalled or a write failed.';
  expose(registry, 'counter', 'log_lines_dropped_total', help, log.countDropped);
}

/** Logs only these fields, because errors of database drivers contain statements and values in other fields. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return redactKeys(String(error));
  const { type, message, stack } = stdSerializers.err(error);
  return {
    type,
    message: redactKeys(message),
    stack: redactKeys(stack),
    ...('code' in error && { code: redactKeys(String(error.code)) }),
    ...(error instanceof AggregateError && { errors: error.errors.map(describeError) }),
  };
}

export interface LineOutput {
  readonly writableLength: number;
  write(text: string, done: (error?: Error | null) => void): unknown;
}

/**
 * Returns a destination of a pino logger, which writes the lines of one turn of the event loop together. While the
 * reader stalls, at most `waitingCharactersMax` characters wait. Further lines are dropped. Lines of a failed write
 * count as dropped. When everything is written, `onDropped` gets the number of lines dropped since its last call.
 */
export function bufferLines(output: LineOutput, onDropped: (count: number) => void) {
  let text = '';
  let lines = 0;
  let dropped = 0;
  let reported = 0;

  function flush(): void {
    if (lines === 0) return;
    const batch = text;
    const count = lines;
    text = '';
    lines = 0;
    output.write(batch, (error) => settle(error, count));
  }

  function settle(error: Error | null | undefined, count: number): void {
    if (error) dropped += count;
    else if (dropped > reported && output.writableLength === 0) {
      const unreported = dropped - reported;
      reported = dropped;
      onDropped(unreported);
    }
  }

  return {
    write(line: string): void {
      if (text.length >= waitingCharactersMax) flush();
      if (text.length + output.writableLength >= waitingCharactersMax) {
        dropped += 1;
        return;
      }
      if (lines === 0) setImmediate(flush);
      text += line;
      lines += 1;
    },
    flush,
    /** Pino calls this after a fatal line, because the process is about to end. */
    flushSync: flush,
    countDropped: () => dropped,
  };
}

/** Limits the lines per second. Returns null to omit the next line, else the number omitted since the last written one. */
export function createLineBudget(
  perSecondMax: number,
  elapsedMs = () => performance.now(),
): () => number | null {
  let second = -1;
  let lines = 0;
  let omitted = 0;
  return () => {
    const now = Math.floor(elapsedMs() / secondMs);
    lines = now === second ? lines + 1 : 1;
    second = now;
    const before = omitted;
    omitted = lines > perSecondMax ? omitted + 1 : 0;
    return omitted > 0 ? null : before;
  };
}
