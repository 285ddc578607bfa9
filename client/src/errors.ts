import type { ErrorCode } from './generated.ts';
import type { RateLimit } from './response-info.ts';

/** What the client finds wrong by itself. Every other code is the service's own word (docs/errors.md). */
export type ClientErrorCode =
  /** An argument or option breaks its rule, which the message names; nothing was sent. */
  | 'invalid_argument'
  /** There was no answer: no connection, or it broke off. */
  | 'connection_failed'
  /** There was no whole answer within `timeoutMs`. */
  | 'timed_out'
  /** There was an answer, but none of an Animal Store: mostly `baseUrl` leads somewhere else. */
  | 'unexpected_answer';

/** What is known of a failure besides its code and message. */
export interface FailureDetails {
  readonly status?: number;
  readonly requestId?: string | null;
  readonly retryAfterSeconds?: number | null;
  readonly rateLimit?: RateLimit | null;
  readonly attempts?: number;
  readonly cause?: unknown;
}

/**
 * Every failure of the client, but for a call that its caller ended: that rejects with the reason of the signal.
 * Neither message nor fields hold the API key.
 */
export class AnimalStoreError extends Error {
  override readonly name = 'AnimalStoreError';
  /** What to act on. A newer service may send a code that this version of the client does not list. */
  readonly code: ErrorCode | ClientErrorCode;
  /** The HTTP status; null where there was no answer. */
  readonly status: number | null;
  /** What the operator finds the request by; null where there was no answer of the service. */
  readonly requestId: string | null;
  /** How long the service asked to wait, in whole seconds; null where it did not. */
  readonly retryAfterSeconds: number | null;
  /** How the limits stood; null where there was no answer of the service. */
  readonly rateLimit: RateLimit | null;
  /** How many requests were sent for the call. */
  readonly attempts: number;

  constructor(code: ErrorCode | ClientErrorCode, message: string, details: FailureDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.status = details.status ?? null;
    this.requestId = details.requestId ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.rateLimit = details.rateLimit ?? null;
    this.attempts = details.attempts ?? 0;
  }
}

/** The error for an argument that breaks a rule. `rule` goes on from the field's name: `must be …`. */
export function argumentError(field: string, rule: string): AnimalStoreError {
  return new AnimalStoreError('invalid_argument', `${field} ${rule}`);
}
