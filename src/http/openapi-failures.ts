import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCodes } from '../errors.ts';
import { errorStatus } from './error-handler.ts';
import { type HeaderName, referToHeaders } from './openapi-headers.ts';

/** When each failure is answered, and what it bears besides the headers of every failure. */
const failures: Readonly<Record<number, { when: string; headers?: readonly HeaderName[] }>> = {
  400: { when: 'A field, a parameter or the request itself breaks a rule; the message names it.' },
  401: { when: 'Missing or invalid API key.', headers: ['WWW-Authenticate'] },
  403: { when: 'The API key lacks the scope of this operation.', headers: ['WWW-Authenticate'] },
  404: { when: 'No animal with that identifier.' },
  405: { when: 'This address was sent a method that it does not know.', headers: ['Allow'] },
  408: { when: 'The request did not arrive in time.' },
  409: { when: 'The first request with this `Idempotency-Key` is still running.' },
  410: { when: 'The operation has been removed.' },
  413: { when: 'The body, or what its chunks bear, is too large.' },
  415: { when: 'The body is something else than JSON in UTF-8.' },
  422: { when: 'This `Idempotency-Key` was sent before with another body.' },
  429: { when: 'Rate limit exceeded, or the API key is banned for a while.', headers: ['Retry-After'] },
  431: { when: 'The head of the request is too large.' },
  500: { when: 'The service failed.' },
  503: { when: 'The service cannot answer just now.', headers: ['Retry-After'] },
};

const exampleMessages: Record<ErrorCode, string> = {
  api_key_missing: 'Authorization: an API key is required, as in "Authorization: Bearer <API_KEY>"',
  api_key_invalid: 'Authorization: this is no valid API key',
  api_key_expired: 'Authorization: this API key has expired',
  api_key_revoked: 'Authorization: this API key has been revoked',
  scope_missing: 'this API key lacks the scope pets:write',
  rate_limit_exceeded: 'the limit of requests is reached; retry after 42 s',
  key_banned: 'this API key is banned for a while because it went on after refusals; retry after 60 s',
  invalid_body: 'categoryId is required',
  invalid_parameter: 'limit must be a plain decimal integer from 1 to 100',
  idempotency_key_reused: 'Idempotency-Key: this key was sent before with another body',
  idempotency_key_in_use: 'Idempotency-Key: the first request with this key is still running',
  not_found: 'petId: there is no animal with this identifier',
  gone: 'this operation was removed on 2030-12-05; use GET /pets',
  method_not_allowed: 'this address knows GET, HEAD, POST, not PUT',
  payload_too_large: 'the body is larger than 65536 bytes',
  unsupported_media_type: 'Content-Type: the body must be application/json',
  request_timeout: 'the request did not arrive in time',
  headers_too_large: 'the head of the request is too large',
  internal_error: 'the service failed; try again',
  unavailable: 'the store cannot do this at the moment; try again',
};

/** The response of a failing status, in the Error body, with an example of each code that has this status. */
export function describeFailure(status: number, extraHeaders: readonly HeaderName[] = []) {
  const failure = failures[status];
  if (failure === undefined) throw new Error(`no error has the status ${status}`);
  const codes = errorCodes.filter((code) => errorStatus[code] === status);
  return {
    description: failure.when,
    headers: referToHeaders(['Cache-Control', ...(failure.headers ?? []), ...extraHeaders]),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleBody(code) }])),
      },
    },
  };
}

function exampleBody(code: ErrorCode) {
  return { code, message: exampleMessages[code], status: errorStatus[code] };
}

/** The name that the response of a status has among the shared components: `TooManyRequests`. */
export function nameFailure(status: number): string {
  return (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');
}
