import type { ErrorCode, LaterValue } from './generated.ts';
import type { RateLimit } from './response-info.ts';

/** The error codes of the client itself. All other codes come from the service (docs/errors.md). */
export type ClientErrorCode =
  /** An argument or option is invalid. The message names the rule. No request was sent. */
  | 'invalid_argument'
  /** No response arrived, because the connection failed. */
  | 'connection_failed'
  /** No complete response arrived within `timeoutMs`. */
  | 'timed_out'
  /** The response does not come from an Animal Store. Usually `baseUrl` is wrong. */
  | 'unexpected_answer';

export interface FailureDetails {
  readonly status?: number;
  readonly requestId?: string | null;
  readonly retryAfterSeconds?: number | null;
  readonly rateLimit?: RateLimit | null;
  readonly attempts?: number;
  readonly cause?: unknown;
}

/**
 * The error of every failed call. If the caller aborts the call, the call rejects with the reason of the signal
 * instead. Neither the message nor the fields contain the API key.
 */
export class AnimalStoreError extends Error {
  override readonly name: string = 'AnimalStoreError';
  /** A machine-readable code. A newer service may send a code that this version of the client does not list. */
  readonly code: ErrorCode | ClientErrorCode | LaterValue;
  /** The HTTP status. Null if there was no response. */
  readonly status: number | null;
  /**
   * The `X-Request-Id` of the response. With it, the operator finds the request in the log. Null if the service did not
   * respond.
   */
  readonly requestId: string | null;
  /** Whole seconds to wait before a retry, from `Retry-After`. Null if the response has no valid `Retry-After`. */
  readonly retryAfterSeconds: number | null;
  /** The state of the rate limit. Null if the response does not contain it. */
  readonly rateLimit: RateLimit | null;
  /** Number of requests sent for the call. */
  readonly attempts: number;

  constructor(code: AnimalStoreError['code'], message: string, details: FailureDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.status = details.status ?? null;
    this.requestId = details.requestId ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.rateLimit = details.rateLimit ?? null;
    this.attempts = details.attempts ?? 0;
  }
}

/** `invalid_argument`: an argument or option is invalid. No request was sent. */
export class ArgumentError extends AnimalStoreError {
  override readonly name = 'ArgumentError';
}

/** `connection_failed` or `timed_out`: no complete response arrived. */
export class ConnectionError extends AnimalStoreError {
  override readonly name = 'ConnectionError';
}

/** 400, 405, 408, 413, 415 and 431: the request is invalid. */
export class InvalidRequestError extends AnimalStoreError {
  override readonly name = 'InvalidRequestError';
}

/** 401: the API key is missing, invalid, expired or revoked. */
export class AuthenticationError extends AnimalStoreError {
  override readonly name = 'AuthenticationError';
}

/** 403: the API key may not make this request. */
export class PermissionError extends AnimalStoreError {
  override readonly name = 'PermissionError';
}

/** 404 and 410: the resource does not exist, or it was removed. */
export class NotFoundError extends AnimalStoreError {
  override readonly name = 'NotFoundError';
}

/** 409, 412 and 422: the request conflicts with the current state or with an earlier request. */
export class ConflictError extends AnimalStoreError {
  override readonly name = 'ConflictError';
}

/** 429: a rate limit is reached, or the key is banned. Retry after `retryAfterSeconds`. */
export class RateLimitError extends AnimalStoreError {
  override readonly name = 'RateLimitError';
}

/** 5xx: the service failed, or is temporarily unavailable. */
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

/** Selects the class of the error by its code, or by its status if the code has no class. */
export function createError(
  code: AnimalStoreError['code'],
  message: string,
  details: FailureDetails = {},
): AnimalStoreError {
  const status = details.status ?? 0;
  const usual = status >= 500 ? ServiceError : status >= 400 ? InvalidRequestError : AnimalStoreError;
  const Kind = classByCode[code] ?? classByStatus[status] ?? usual;
  return new Kind(code, message, details);
}

/** Creates an `invalid_argument` error. `rule` follows the name of the field in the message, as in `must be …`. */
export function argumentError(field: string, rule: string): AnimalStoreError {
  return createError('invalid_argument', `${field} ${rule}`);
}
