import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, secondMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Done } from './arrival.ts';

/** When an operation was deprecated and when it is removed (interface section 9), as Unix milliseconds. */
export interface Deprecation {
  readonly sinceMs: number;
  readonly removedAtMs: number;
  /** The address that serves instead. */
  readonly successor: string;
}

/** Interface section 4.3; when it was deprecated is a decision of ours (docs/decisions). */
export const getPetDates = {
  sinceMs: Date.UTC(2025, 11, 5),
  removedAtMs: Date.UTC(2030, 11, 5),
};

/** What every response of a deprecated operation bears (RFC 9745, RFC 8594). */
export function deprecationHeaders({ sinceMs, removedAtMs, successor }: Deprecation): Record<string, string> {
  return {
    deprecation: `@${sinceMs / secondMs}`,
    sunset: new Date(removedAtMs).toUTCString(),
    link: `<${successor}>; rel="successor-version"`,
  };
}

/** A hook that announces a deprecation and, from the instant of the removal on, answers 410 in the operation's place. */
export function announceDeprecation(deprecation: Deprecation, clock: Clock) {
  const headers = deprecationHeaders(deprecation);
  const removal = new Date(deprecation.removedAtMs).toISOString().slice(0, 10);

  return (_request: FastifyRequest, reply: FastifyReply, done: Done): void => {
    reply.headers(headers);
    const isGone = clock() >= deprecation.removedAtMs;
    done(
      isGone ? new AppError('gone', `this operation was removed on ${removal}; use GET /pets`) : undefined,
    );
  };
}
