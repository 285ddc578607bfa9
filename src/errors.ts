/** Every `code` that an Error body can bear (interface section 7); docs/errors.md tells cause and cure of each. */
export const errorCodes = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_revoked',
  'scope_missing',
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

/**
 * A failure that a client may be told of: `message` is shown to it as it stands, so it names the field and the rule
 * and never what lies inside. The `cause`, where there is one, is for the log alone.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A mistake of the operator's, told in one line on standard error; never a client's business. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
}

/** What was to be written is there whole or not at all, and it is not known which. */
export class OutcomeUnknownError extends OperatorError {
  override readonly name = 'OutcomeUnknownError';
}

/** A mistake in how a command was called. */
export class UsageError extends OperatorError {
  override readonly name = 'UsageError';
}
