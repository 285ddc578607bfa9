import type { Writable } from 'node:stream';
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import { keyEnvironments } from '../accounts/api-key.ts';
import type { LogLevel } from '../config.ts';

export type Log = Logger;

/** A character, also percent-encoded, and that once more for as often as somebody did; in either case. */
function encoded(character: string): string {
  const codes = [character, character.toUpperCase()].map((one) => one.charCodeAt(0).toString(16));
  return `(?:${character}|%(?:25)*(?:${codes.join('|')}))`;
}

const spell = (text: string) => [...text].map(encoded).join('');

/** More of a key than its visible start; also mistyped, in another case, encoded, or followed by another key. */
const keyText = new RegExp(
  `${spell('as_')}(?:${keyEnvironments.map((name) => `(${spell(name)})`).join('|')})${spell('_')}[0-9a-z_%]{5,}`,
  'gi',
);

/** A text with every API key in it made unreadable. */
export function redactKeys(text: string): string {
  return text.replace(keyText, (_key, ...found: unknown[]) => {
    const environment = keyEnvironments.find((_name, place) => found[place] !== undefined);
    return `as_${environment}_[redacted]`;
  });
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
