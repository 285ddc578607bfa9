/** Every `code` of an Error body (interface section 7). docs/errors.md gives the cause and the cure of each. */
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

/** Further codes of the operator's console (docs/console.md). No answer under `/v1` has them. */
export const consoleErrorCodes = ['session_missing', 'host_refused', 'origin_refused', 'not_done'] as const;

/** One of `consoleErrorCodes`. */
export type ConsoleErrorCode = (typeof consoleErrorCodes)[number];

/**
 * A failure that is reported to the client. The client gets `message` as it is, so it names the field and the rule,
 * and nothing internal. The optional `cause` is only for the log.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode | ConsoleErrorCode;

  constructor(code: ErrorCode | ConsoleErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A mistake of the operator, printed in one line on standard error. Clients never see it. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}

/** The output was written completely or not at all; which of the two is unknown. */
export class OutcomeUnknownError extends OperatorError {
  override readonly name = 'OutcomeUnknownError';
}

/** A wrong use of a command. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';
}
