import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../accounts/account.ts';
import type { AppError } from '../errors.ts';
import type { LimitHeaders } from '../limits/rules/decision.ts';
import type { Match } from './router.ts';

/** A request on its way through the pipeline. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  /** Since an arbitrary start, in milliseconds. */
  readonly startedAtMs: number;
  readonly match: Match;
  /** Null until the key has proved valid. */
  caller: Caller | null;
  /** Null until the request has been counted, and for what is not counted. */
  limit: LimitHeaders | null;
  /** Why the rest of the body cannot be read, if that came out before the request was counted. */
  brokenBy: AppError | null;
  /** Whether its connection can find it (connection/in-flight.ts). */
  isTracked: boolean;
  isAnswered: boolean;
  /** How long the client had its answer wait on purpose, in milliseconds. */
  heldMs: number;
}

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  id: string,
  match: Match,
): Exchange {
  return {
    request,
    response,
    id,
    startedAtMs: performance.now(),
    match,
    caller: null,
    limit: null,
    brokenBy: null,
    isTracked: false,
    isAnswered: false,
    heldMs: 0,
  };
}
