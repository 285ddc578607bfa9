import { secondMs } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { type HeaderList, listHeaders } from './answer.ts';

/** The deprecation and removal of an operation (interface section 9). Times are in Unix milliseconds. */
export interface Deprecation {
  readonly sinceMs: number;
  readonly removedAtMs: number;
  /** Path of the replacement, relative to the base URL. Its method is GET. */
  readonly successor: string;
}

/** Returns the headers for every response of a deprecated operation (RFC 9745, RFC 8594). */
export function announceDeprecation(deprecation: Deprecation, baseUrl: string): HeaderList {
  const { sinceMs, removedAtMs, successor } = deprecation;
  return listHeaders({
    deprecation: `@${sinceMs / secondMs}`,
    sunset: new Date(removedAtMs).toUTCString(),
    link: `<${baseUrl}${successor}>; rel="successor-version"`,
  });
}

export function removedError({ removedAtMs, successor }: Deprecation): AppError {
  const day = new Date(removedAtMs).toISOString().slice(0, 10);
  return new AppError('gone', `this operation was removed on ${day}; use GET ${successor}`);
}
