import type { ErrorCode } from './generated.ts';
import type { RateLimit } from './response-info.ts';

/** The error codes of the client itself. All other codes come from the service (docs/errors.md). */
export type ClientErrorCode =
  /** An argument or option is invalid; the message names the rule. Nothing was sent. */
  | 'invalid_argument'
  /** There was no answer: no connection, or it broke. */
  | 'connection_failed'
  /** There was no complete answer within `timeoutMs`. */
  | 'timed_out'
  /** The answer is not from an Animal Store. Usually `baseUrl` is wrong. */
  | 'unexpected_answer';

/** The details of a failure besides its code and message. */
export interface FailureDetails {
  readonly status?: number;
  readonly requestId?: string | null;
  readonly retryAfterSeconds?: number | null;
  readonly rateLimit?: RateLimit | null;
  readonly attempts?: number;
  readonly cause?: unknown;
}

/**
 * The error of every failed call. A call that its caller aborted rejects with the reason of the signal instead.
 * Neither the message nor the fields contain the API key.
 */
export class AnimalStoreError extends Error {
  override readonly name: string = 'AnimalStoreError';
  /** The code for programs. A newer service may send a code that this version of the client does not list. */
  readonly code: ErrorCode | ClientErrorCode;
  /** The HTTP status. Null if there was no answer. */
  readonly status: number | null;
  /** The id by which the operator finds the request. Null if there was no answer of the service. */
  readonly requestId: string | null;
  /** How long the service asks to wait, in whole seconds. Null if it does not. */
  readonly retryAfterSeconds: number | null;
  /** The state of the rate limit. Null if there was no answer of the service. */
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

/** An argument or option is invalid: `invalid_argument`. Nothing was sent. */
export class ArgumentError extends AnimalStoreError {
  override readonly name = 'ArgumentError';
}

/** There was no answer: `connection_failed` or `timed_out`. */
export class ConnectionError extends AnimalStoreError {
  override readonly name = 'ConnectionError';
}

/** 400, 405, 408, 413, 415, 431: the request is invalid. */
export class InvalidRequestError extends AnimalStoreError {
  override readonly name = 'InvalidRequestError';
}

/** 401: the API key is missing, invalid, expired or revoked. */
export class AuthenticationError extends AnimalStoreError {
  override readonly name = 'AuthenticationError';
}

/** 403: the API key may not do this. */
export class PermissionError extends AnimalStoreError {
  override readonly name = 'PermissionError';
}

/** 404 and 410: the requested resource does not exist, or no longer does. */
export class NotFoundError extends AnimalStoreError {
  override readonly name = 'NotFoundError';
}

/** 409, 412 and 422: the request conflicts with the current state, or with an earlier request. */
export class ConflictError extends AnimalStoreError {
  override readonly name = 'ConflictError';
}

/** 429: the limit is reached, or the key is banned. `retryAfterSeconds` says how long to wait. */
export class RateLimitError extends AnimalStoreError {
  override readonly name = 'RateLimitError';
}

/** 5xx: the service failed, or cannot answer at the moment. */
export class ServiceError extends AnimalStoreError {
  override readonly name = 'ServiceError';
}

const classByCode: Readonly<Record<string, typeof AnimalStoreError>> = {
  invalid_argument: ArgumentError,
  connection_failed: ConnectionError,
  timed_out: ConnectionError,
  unexpected_answer: AnimalStoreError,
};

const classByStatus: Readonly<Record<number, typeof AnimalStoreError>> = {
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  410: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  422: ConflictError,
  429: RateLimitError,
};

/** Creates an error of the class for its code, or else for its status. */
export function createError(
  code: ErrorCode | ClientErrorCode,
  message: string,
  details: FailureDetails = {},
): AnimalStoreError {
  const status = details.status ?? 0;
  const usual = status >= 500 ? ServiceError : status >= 400 ? InvalidRequestError : AnimalStoreError;
  const Kind = classByCode[code] ?? classByStatus[status] ?? usual;
  return new Kind(code, message, details);
}

/** The error for an invalid argument. `rule` continues the sentence after the field's name: `must be …`. */
export function argumentError(field: string, rule: string): AnimalStoreError {
  return createError('invalid_argument', `${field} ${rule}`);
}
