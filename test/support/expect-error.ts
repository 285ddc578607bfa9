import assert from 'node:assert/strict';
import type { ErrorCode } from '../../src/errors.ts';
import type { RawResponse } from './raw-http.ts';

/** The rate limit headers, which are on every response (interface section 8, contract section 6). */
const limitHeaders = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
];

/** Returns the value after a name in a list of names and values. */
export function readHeader(list: readonly string[], name: string): string | undefined {
  return list[list.indexOf(name) + 1];
}

/** Throws if a response lacks a request id, a rate limit header or a security header. */
export function expectCommonHeaders({ status, headers }: Pick<RawResponse, 'status' | 'headers'>): void {
  for (const name of limitHeaders) assert.ok(headers.get(name), `${name} on ${status}`);
  assert.equal(headers.get('x-content-type-options'), 'nosniff', `on ${status}`);
  assert.equal(headers.get('x-frame-options'), 'DENY', `on ${status}`);
  assert.match(headers.get('x-request-id') ?? '', /^req_[0-9a-f]{12}_[0-9a-z]+$/);
}

type Received = Response | RawResponse;
type HeaderValues = Readonly<Record<string, string | null>>;

/** Throws unless the headers of a response have these values. Null means that the header is absent. */
export function expectHeaders({ headers }: Pick<RawResponse, 'headers'>, expected: HeaderValues): void {
  for (const [name, value] of Object.entries(expected)) assert.equal(headers.get(name), value, name);
}

/** Throws unless the body of a response is an Error (interface section 2). Returns the message. */
export async function expectErrorBody(response: Received, status: number, code: ErrorCode): Promise<string> {
  const text = typeof response.body === 'string' ? response.body : await (response as Response).text();
  assert.equal(response.status, status, text);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/);
  const body = JSON.parse(text);
  assert.deepEqual(Object.keys(body), ['code', 'message', 'status']);
  assert.equal(body.code, code, text);
  assert.equal(body.status, status);
  assert.ok(typeof body.message === 'string' && body.message !== '');
  return body.message;
}

/** Throws unless a response is an Error of the service with a link to its explanation and these headers. Returns the message. */
export async function expectError(
  response: Received,
  status: number,
  code: ErrorCode,
  headers: HeaderValues = {},
): Promise<string> {
  const message = await expectErrorBody(response, status, code);
  expectCommonHeaders(response);
  expectHeaders(response, headers);
  const links = response.headers.get('link') ?? '';
  const isHelp = (link: string) => link.endsWith(`/docs/errors#${code}>; rel="help"`);
  assert.ok(links.split(', ').some(isHelp), links);
  return message;
}

/** Counts the answers by status. A failed test shows them all. */
export function countStatuses(statuses: readonly (number | string)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
