import assert from 'node:assert/strict';
import type { ErrorCode } from '../../src/errors.ts';
import type { RawResponse } from './raw-http.ts';

/** The headers of the limits, which are on every response (interface section 8, contract section 6). */
export const limitHeaders = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
];

/** Fails where a response lacks what every response has: an id, and the headers of the limits and for browsers' safety. */
export function expectCommonHeaders({ status, headers }: Pick<RawResponse, 'status' | 'headers'>): void {
  for (const name of limitHeaders) assert.ok(headers.get(name), `${name} on ${status}`);
  assert.equal(headers.get('x-content-type-options'), 'nosniff', `on ${status}`);
  assert.equal(headers.get('x-frame-options'), 'DENY', `on ${status}`);
  assert.match(headers.get('x-request-id') ?? '', /^req_[0-9a-f]{12}_[0-9a-z]+$/);
}

/** Holds a response to interface section 2, Error, and gives its message. */
export async function expectError(
  response: Response | RawResponse,
  status: number,
  code: ErrorCode,
): Promise<string> {
  const text = typeof response.body === 'string' ? response.body : await (response as Response).text();
  assert.equal(response.status, status, text);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/);
  const body = JSON.parse(text);
  assert.deepEqual(Object.keys(body), ['code', 'message', 'status']);
  assert.equal(body.code, code, text);
  assert.equal(body.status, status);
  assert.ok(typeof body.message === 'string' && body.message !== '');
  expectCommonHeaders(response);
  return body.message;
}
