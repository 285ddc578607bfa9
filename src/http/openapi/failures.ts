import { STATUS_CODES } from 'node:http';
import Type from 'typebox';
import { type ErrorCode, errorCodes } from '../../errors.ts';
import type { Operation } from '../operation.ts';
import { errorStatus } from '../response/errors.ts';
import type { DescribedAnswer } from './answers.ts';
import type { HeaderName } from './headers.ts';

/** The body of every error response. */
export const ErrorSchema = Type.Object({
  code: Type.Unsafe<string>({
    type: 'string',
    enum: [...errorCodes],
    description: 'Machine-readable error code.',
  }),
  message: Type.String({
    maxLength: 2_000,
    pattern: '^[^\\x00-\\x1f\\x7f]*$',
    description: 'Human-readable description.',
  }),
  status: Type.Integer({
    format: 'int32',
    minimum: 400,
    maximum: 599,
    description: 'The HTTP status code.',
  }),
});

/**
 * Description of each error status. `headers` are the headers of the status, without the headers of every error
 * response.
 */
const failures: Readonly<Record<number, { when: string; headers?: readonly HeaderName[] }>> = {
  400: { when: 'A field, a parameter or the request itself breaks a rule; the message names it.' },
  401: { when: 'Missing or invalid API key.', headers: ['WWW-Authenticate'] },
  403: {
    when: 'The API key lacks the scope of this operation, or its account is suspended.',
    headers: ['WWW-Authenticate'],
  },
  404: { when: 'Nothing has that identifier.' },
  405: { when: 'The address does not allow this method.', headers: ['Allow'] },
  408: { when: 'The request did not arrive in time.' },
  409: {
    when: 'The request conflicts with the current state, or the first request with its `Idempotency-Key` is still running.',
  },
  410: { when: 'The operation has been removed, or the requested data is no longer kept.' },
  412: { when: 'The animal has none of the `ETag`s in `If-Match`.' },
  413: { when: 'The body or its chunk extensions are too large.' },
  415: { when: 'The body is not JSON in UTF-8.' },
  422: { when: 'This `Idempotency-Key` was used before with another body or another operation.' },
  429: { when: 'Rate limit exceeded, or the API key is temporarily banned.', headers: ['Retry-After'] },
  431: { when: 'The head of the request is too large.' },
  500: { when: 'The service failed.' },
  503: { when: 'The service cannot answer at the moment.', headers: ['Retry-After'] },
};

const exampleMessages: Record<ErrorCode, string> = {
  api_key_missing: 'Authorization: missing API key; send "Authorization: Bearer <API_KEY>"',
  api_key_invalid: 'Authorization: invalid API key',
  api_key_expired: 'Authorization: this API key has expired',
  api_key_revoked: 'Authorization: this API key has been revoked',
  scope_missing: 'this API key lacks the scope pets:write',
  account_suspended: 'this account is suspended; ask the operator of the store',
  rate_limit_exceeded: 'rate limit exceeded; retry after 42 s',
  key_banned:
    'this API key is temporarily banned because it kept sending requests after a 429; retry after 60 s',
  invalid_body: 'categoryId is required',
  invalid_parameter: 'limit must be an integer from 1 to 100',
  idempotency_key_reused: 'Idempotency-Key: this key was sent before with another body',
  idempotency_key_in_use: 'Idempotency-Key: the first request with this key is still running',
  pet_unavailable: 'petId: this animal is not available',
  pet_in_order:
    'an order owns this animal: only the order can change its status, and the animal cannot be deleted',
  order_closed: 'this order is cancelled: only a reserved order can be completed',
  order_expired: 'this order expired at 2026-11-24T12:15:00.000Z',
  limit_reached: 'this account may open another hold only while it has fewer than 25',
  position_lost:
    'after: the events after the position of this webhook are no longer kept; set "after" to the id of a later event, or to "now"',
  events_expired:
    'after: the events after this one are no longer kept; read the store again and continue from after=now',
  precondition_failed: 'If-Match: the animal has changed; get it again',
  not_found: 'petId: there is no animal with this identifier',
  gone: 'this operation was removed on 2030-12-05; use GET /pets',
  method_not_allowed: 'PUT is not allowed here; allowed: GET, HEAD, POST',
  payload_too_large: 'the body is larger than 65536 bytes',
  unsupported_media_type: 'Content-Type: the body must be application/json',
  request_timeout: 'the request did not arrive in time',
  headers_too_large: 'the head of the request is too large',
  internal_error: 'the service failed; try again',
  unavailable: 'the store cannot do this at the moment; try again',
};

/** The codes that every operation can return. Exception: an operation without a scope never returns `scope_missing`. */
export const commonCodes: readonly ErrorCode[] = [
  'invalid_body',
  'invalid_parameter',
  'api_key_missing',
  'api_key_invalid',
  'api_key_expired',
  'api_key_revoked',
  'scope_missing',
  'account_suspended',
  'method_not_allowed',
  'request_timeout',
  'payload_too_large',
  'rate_limit_exceeded',
  'key_banned',
  'headers_too_large',
  'internal_error',
  'unavailable',
];

/** Returns the error codes of an operation, grouped by status. */
export function listFailures(operation: Operation): Map<number, ErrorCode[]> {
  const common = commonCodes.filter((code) => code !== 'scope_missing' || operation.scope !== null);
  const codes: ErrorCode[] = [...new Set([...common, ...(operation.failures ?? [])])];
  if (operation.body !== undefined) codes.push('unsupported_media_type');
  if (operation.isIdempotent) codes.push('idempotency_key_reused', 'idempotency_key_in_use');
  if (operation.deprecation !== undefined) codes.push('gone');
  return Map.groupBy(codes, (code) => errorStatus[code]);
}

/** Describes the error response of a status, with an example body for each code. */
export function describeFailure(
  status: number,
  codes: readonly ErrorCode[],
  announcements: readonly HeaderName[],
): DescribedAnswer {
  const failure = failures[status];
  if (failure === undefined) throw new Error(`no error has the status ${status}`);
  const examples = codes.map((code) => [code, { value: { code, message: exampleMessages[code], status } }]);
  return {
    status,
    description: failure.when,
    headers: ['Cache-Control', 'HelpLink', ...(failure.headers ?? []), ...announcements],
    body: ErrorSchema,
    examples: Object.fromEntries(examples),
  };
}

/** Returns the name of a status in the shared responses, such as `TooManyRequests`. */
export function nameFailure(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');
}
