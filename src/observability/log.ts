import type { Writable } from 'node:stream';
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { LogLevel } from '../config.ts';

export type Log = Logger;

/** More of a key than its visible start; also mistyped, in another case, encoded, or followed by another key. */
const keyText = /as(?:_|%5f)(dev|stg|live)(?:_|%5f)[0-9a-z_%]{5,}/gi;

/** A text with every API key in it made unreadable. */
export function redactKeys(text: string): string {
  return text.replace(keyText, 'as_$1_[redacted]');
}

/**
 * The service's log: one JSON object a line; for people where the output is a terminal, in colours where it has them. No line holds an API key,
 * wherever in it the key may stand.
 */
export function createLog(
  level: LogLevel,
  output: Writable & { readonly isTTY?: boolean; hasColors?(): boolean },
): Log {
  const target: DestinationStream = output.isTTY
    ? pretty({
        destination: output,
        colorize: output.hasColors?.() ?? false,
        ignore: 'pid,hostname',
        sync: true,
      })
    : output;
  return pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime },
    { write: (line: string) => target.write(redactKeys(line)) },
  );
}
