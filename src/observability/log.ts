import type { Writable } from 'node:stream';
import { type Logger, pino, stdSerializers } from 'pino';
import pretty from 'pino-pretty';
import type { Registry } from 'prom-client';
import type { LogLevel } from '../config.ts';
import { bufferLines } from './line-buffer.ts';
import { expose } from './metrics.ts';
import { redactKeys } from './redact-keys.ts';

/**
 * The service's log. It writes the lines of one turn of the event loop together; `flush` writes them now, and so does
 * `fatal`. It writes every field but `err` as it gets it: text that a client controls passes `redactKeys` at its source.
 */
export type Log = Pick<Logger, 'info' | 'warn' | 'error' | 'fatal' | 'flush'> & {
  /** How many lines were dropped since the start because the reader of the log stalled or a write failed. */
  countDropped(): number;
};

/** Writes one JSON object a line, or lines for people if the output is a terminal, in colours if it has them. */
export function createLog(
  level: LogLevel,
  output: Writable & { readonly isTTY?: boolean; hasColors?(): boolean },
): Log {
  const target = output.isTTY
    ? pretty({
        destination: output,
        colorize: output.hasColors?.() ?? false,
        ignore: 'pid,hostname',
        sync: true,
      })
    : output;
  const buffer = bufferLines(target, (dropped) =>
    log.error({ dropped }, 'log lines were dropped: the reader of the log stalled, or a write failed'),
  );
  const log: Logger = pino(
    { level, base: null, timestamp: createTimestamp(), serializers: { err: describeError } },
    buffer,
  );
  return Object.assign(log, { countDropped: buffer.countDropped });
}

/** Shows the number of dropped lines among the metrics. */
export function exposeDroppedLines(registry: Registry, log: Log): void {
  expose(
    registry,
    {
      name: 'log_lines_dropped_total',
      type: 'counter',
      help: 'Lines of the log that were dropped because its reader stalled or a write failed.',
    },
    () => [{ labels: {}, value: log.countDropped() }],
  );
}

/** Gives the time field of a line. Lines of one millisecond share its text, as it costs as much as the rest of a line. */
function createTimestamp(): () => string {
  let atMs = Number.NaN;
  let text = '';
  return () => {
    const nowMs = Date.now();
    if (nowMs !== atMs) {
      atMs = nowMs;
      text = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return text;
  };
}

/** Errors of drivers hold statements and values in fields of their own, so only these fields are logged. */
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
