/**
 * Every `code` of an Error body (interface section 7). docs/errors.md describes the cause and the remedy of each
 * code.
 */
export const errorCodes = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_revoked',
  'scope_missing',
  'account_suspended',
  'rate_limit_exceeded',
  'key_banned',
  'invalid_body',
  'invalid_parameter',
  'idempotency_key_reused',
  'idempotency_key_in_use',
  'pet_unavailable',
  'pet_in_order',
  'order_closed',
  'order_expired',
  'limit_reached',
  'position_lost',
  'key_rotated',
  'events_expired',
  'precondition_failed',
  'not_found',
  'gone',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'unavailable',
] as const;

/** One of `errorCodes`. */
export type ErrorCode = (typeof errorCodes)[number];

/** Additional codes of the operator's console (docs/console.md). No response under `/v1` has them. */
const consoleErrorCodes = ['session_missing', 'host_refused', 'origin_refused', 'not_done'] as const;

/** One of `consoleErrorCodes`. */
export type ConsoleErrorCode = (typeof consoleErrorCodes)[number];

/**
 * A failure that is reported to the client. The client receives `message` unchanged, so the message must name the
 * field and the rule, and no internals. The optional `cause` is only logged.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode | ConsoleErrorCode;

  constructor(code: ErrorCode | ConsoleErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A mistake of the operator. It is printed as one line on standard error. Clients never see it. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}

/** The output was written either completely or not at all, and it is unknown which. */
export class OutcomeUnknownError extends OperatorError {
  override readonly name = 'OutcomeUnknownError';
}

/** A command was called with wrong arguments or options. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';
}

/** Returns the message of a thrown value as one line. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(', ');
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}
