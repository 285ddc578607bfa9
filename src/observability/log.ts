import type { Writable } from 'node:stream';
import { type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { Registry } from 'prom-client';
import type { LogLevel } from '../config.ts';
import { bufferLines } from './log-lines.ts';
import { exposeCounter } from './metrics.ts';
import { redactKeys } from './safe-text.ts';

/**
 * The service's log. The lines of one turn of the event loop are written together, or at once by `flush` and `fatal`. Keys
 * are redacted only in the field `err`. Pass any other text from a client through `redactKeys` first.
 */
export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'fatal' | 'flush'> & {
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
  exposeCounter(registry, 'log_lines_dropped_total', help, log.countDropped);
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
