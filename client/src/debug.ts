import { methodOf, nameAddress, type Outgoing } from './exchange.ts';
import type { OperationName } from './generated.ts';
import type { Settings } from './settings.ts';

/** One request and its result. The API key is not included. */
export interface Attempt {
  /** Null if this version of the client does not know the operation. */
  readonly operation: OperationName | null;
  readonly method: string;
  /** The full URL with its query. */
  readonly url: string;
  /** Number of requests sent for the call, including this one. */
  readonly attempts: number;
  readonly durationMs: number;
  /** Null if there was no response. */
  readonly status: number | null;
  readonly requestId: string | null;
  readonly error: Error | null;
}

export interface AttemptResult {
  readonly status: number | null;
  readonly requestId: string | null;
  readonly error?: Error;
}

/** Calls the `debug` option, if it is set. */
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
