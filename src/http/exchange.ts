import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../accounts/account.ts';
import type { AppError } from '../errors.ts';
import type { LimitHeaders, Usage } from '../limits/rules/decision.ts';
import type { SignedIn } from './route.ts';
import type { Match } from './router.ts';

/** A request on its way through the pipeline. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly id: string;
  /** Milliseconds since an arbitrary start. */
  readonly startedAtMs: number;
  readonly match: Match;
  /** Null until the key is verified. */
  caller: Caller | null;
  /** The operator in the console; null for all other requests. */
  signedIn: SignedIn | null;
  /** Null until the request is counted, and for requests that are not counted. */
  limit: LimitHeaders | null;
  /** What the caller's account has used. Null until the request is counted. */
  usage: Usage | null;
  /** The error that broke the body before the request was counted, or null. */
  brokenBy: AppError | null;
  /** Whether the connection can find the request (connection/in-flight.ts). */
  isTracked: boolean;
  isAnswered: boolean;
  /** How long the answer waited because the client asked for it, in milliseconds. */
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
    signedIn: null,
    limit: null,
    usage: null,
    brokenBy: null,
    isTracked: false,
    isAnswered: false,
    heldMs: 0,
  };
}
