/** Every `code` of an Error body and its HTTP status. docs/errors.md has the cause and the remedy of each. */
const statuses = {
  api_key_missing: 401,
  api_key_invalid: 401,
  api_key_expired: 401,
  api_key_revoked: 401,
  scope_missing: 403,
  account_suspended: 403,
  rate_limit_exceeded: 429,
  key_banned: 429,
  invalid_body: 400,
  invalid_parameter: 400,
  idempotency_key_reused: 422,
  idempotency_key_in_use: 409,
  pet_unavailable: 409,
  pet_in_order: 409,
  order_closed: 409,
  order_expired: 409,
  limit_reached: 409,
  position_lost: 409,
  key_rotated: 409,
  events_expired: 410,
  precondition_failed: 412,
  not_found: 404,
  gone: 410,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  request_timeout: 408,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
} as const;

/** A code of an Error body. */
export type ErrorCode = keyof typeof statuses;

/** Every code, in the order of the documentation. */
export const errorCodes = Object.keys(statuses) as readonly ErrorCode[];

/** Additional codes of the operator's port (docs/operations/operators.md). No response under `/v1` has them. */
const operatorStatuses = {
  session_missing: 401,
  token_missing: 401,
  token_invalid: 401,
  role_missing: 403,
  host_refused: 421,
  origin_refused: 403,
  not_done: 409,
} as const;

/** The codes of the operator's port. */
export const operatorCodes = Object.keys(operatorStatuses) as readonly (keyof typeof operatorStatuses)[];

/** A code of an Error body on either port. */
export type AnyCode = ErrorCode | keyof typeof operatorStatuses;

/** The HTTP status of every code. */
export const errorStatus: Readonly<Record<AnyCode, number>> = { ...statuses, ...operatorStatuses };

/** A failure that the client sees: `message` names the field and the rule, no internals. `cause` is only logged. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: AnyCode;

  /** Whole seconds after which a further attempt may succeed. Null: unknown, or the rate limits of the exchange say it. */
  readonly retryAfterSeconds: number | null;

  constructor(code: AnyCode, message: string, options: ErrorOptions & { retryAfterSeconds?: number } = {}) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** Returns true for the failure of a call that the store could not do at that moment. */
export function isUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'unavailable';
}

/** Returns the fields of a log line about a failure: the reason if the store failed, otherwise the error with its stack. */
export function describeFailure(error: unknown): { reason: string } | { err: unknown } {
  return isUnavailable(error) ? { reason: reasonOf(error.cause ?? error) } : { err: error };
}

/** Returns the 404 error for the path parameter `name`, which identifies no `record`. */
export function notFound(name: string, record: string): AppError {
  return new AppError('not_found', `${name}: there is no ${record} with this identifier`);
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
