import type { Outgoing } from './exchange.ts';
import { methodOf, nameAddress } from './exchange.ts';
import type { OperationName } from './operations.ts';
import type { Settings } from './settings.ts';

/** A sent request and its result, without the API key. */
export interface Attempt {
  /** Null for an operation that this version of the client does not know. */
  readonly operation: OperationName | null;
  readonly method: string;
  /** Includes the query. */
  readonly url: string;
  /** How many requests were sent for the call, including this one. */
  readonly attempts: number;
  readonly durationMs: number;
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly requestId: string | null;
  /** The error, or null. */
  readonly error: Error | null;
}

/** The result of a request. */
export interface AttemptResult {
  readonly status: number | null;
  readonly requestId: string | null;
  readonly error?: Error;
}

/** Calls `debug` of the options. */
export function reportAttempt(
  settings: Settings,
  outgoing: Outgoing,
  attempts: number,
  startedAtMs: number,
  { status, requestId, error }: AttemptResult,
): void {
  settings.debug?.({
    operation: outgoing.operation,
    method: methodOf(outgoing),
    url: nameAddress(settings, outgoing) + outgoing.path.replace(/^[^?]*/, ''),
    attempts,
    durationMs: Date.now() - startedAtMs,
    status,
    requestId,
    error: error ?? null,
  });
}
