import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type ErrorCode } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import { jsonType } from './conditional.ts';

/** The one table from error words to HTTP (interface section 7, contract section 7). */
export const errorStatus: Record<ErrorCode, number> = {
  api_key_missing: 401,
  api_key_invalid: 401,
  api_key_expired: 401,
  api_key_revoked: 401,
  scope_missing: 403,
  rate_limit_exceeded: 429,
  key_banned: 429,
  invalid_body: 400,
  invalid_parameter: 400,
  idempotency_key_reused: 422,
  idempotency_key_in_use: 409,
  not_found: 404,
  gone: 410,
  method_not_allowed: 405,
  payload_too_large: 413,
  unsupported_media_type: 415,
  request_timeout: 408,
  headers_too_large: 431,
  internal_error: 500,
  unavailable: 503,
};

/** How long a client is asked to wait after a 503. */
export const unavailableRetrySeconds = 1;

/** What the framework's own errors mean to a client. */
const frameworkErrors: Readonly<Record<string, AppError>> = {
  FST_ERR_BAD_URL: new AppError('invalid_parameter', 'the path is not valid percent-encoded UTF-8'),
  FST_ERR_CTP_BODY_TOO_LARGE: new AppError('payload_too_large', 'the body is larger than 65536 bytes'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new AppError(
    'unsupported_media_type',
    'Content-Type: the body must be application/json',
  ),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new AppError(
    'invalid_body',
    'the body is not as long as Content-Length says',
  ),
  ECONNRESET: new AppError('invalid_body', 'the body ended before its end'),
};

/** What a client is told of a failure: nothing that lies inside. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return (
    frameworkErrors[code] ?? new AppError('internal_error', 'the service failed; try again', { cause: error })
  );
}

/** The headers that a failure bears besides those of every response. */
export function errorHeaders(code: ErrorCode): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': jsonType, 'cache-control': 'no-store' };
  if (errorStatus[code] === 401)
    headers['www-authenticate'] = code === 'api_key_missing' ? 'Bearer' : 'Bearer error="invalid_token"';
  if (code === 'scope_missing') headers['www-authenticate'] = 'Bearer error="insufficient_scope"';
  if (code === 'unavailable') headers['retry-after'] = String(unavailableRetrySeconds);
  return headers;
}

/** Interface section 2, Error. */
export function errorBody({ code, message }: AppError): string {
  return JSON.stringify({ code, message, status: errorStatus[code] });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a refusal bears that comes before the route's own hooks. */
    refusalHeaders?: Readonly<Record<string, string>>;
  }
}

/** The one way out of every failure of a request. */
export function sendError(log: Log, error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const failure = toAppError(error);
  const status = errorStatus[failure.code];
  // Of a store that fails its own lines tell the cause, and not each request again: see store-faults.ts.
  if (status >= 500 && failure.code !== 'unavailable')
    log.error({ requestId: request.id, err: failure.cause ?? failure }, failure.message);
  if (reply.hasHeader('connection')) keepOpen(reply);
  const { url, config } = request.routeOptions;
  if (url !== undefined && config.refusalHeaders !== undefined) reply.headers(config.refusalHeaders);
  reply.code(status).headers(errorHeaders(failure.code)).send(errorBody(failure));
}

/**
 * Takes back the `Connection: close` that Fastify gives to a refused body: a client that is still sending would be cut
 * off before it reads why. Node reads the rest and throws it away.
 */
function keepOpen(reply: FastifyReply): void {
  const isLast = !reply.raw.shouldKeepAlive || reply.raw.hasHeader('connection');
  reply.header('connection', isLast ? 'close' : 'keep-alive');
}

/** As Fastify takes it. */
export function createErrorHandler(log: Log) {
  return (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void =>
    sendError(log, error, request, reply);
}
