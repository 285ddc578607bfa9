import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnimalStoreError } from '../../client/src/index.ts';
import { planWaitMs } from '../../client/src/retry.ts';

/** Failures: the code, the status, `retryAfterSeconds` and `attempts`, with the shortest and longest wait in ms. */
const failures = [
  ['rate_limit_exceeded', 429, 7, 1, 7_000, 7_000],
  ['rate_limit_exceeded', 429, 7, 2, 7_000, 8_000],
  ['key_banned', 429, 60, 1, 60_000, 60_000],
  ['key_banned', 429, 61, 1, null, null],
  ['unavailable', 503, 1, 1, 1_000, 1_500],
  ['unavailable', 503, 60, 3, 60_000, 60_000],
  ['internal_error', 500, null, 1, 0, 500],
  ['unexpected_answer', 502, null, 2, 0, 1_000],
  ['connection_failed', null, null, 3, 0, 2_000],
  ['timed_out', null, null, 90, 0, 8_000],
  ['request_timeout', 408, null, 1, 0, 500],
  ['idempotency_key_in_use', 409, null, 1, 0, 500],
  ['idempotency_key_reused', 422, null, 1, null, null],
  ['api_key_invalid', 401, null, 1, null, null],
  ['unexpected_answer', 200, null, 1, null, null],
  ['invalid_argument', null, null, 0, null, null],
] as const;

for (const [code, status, retryAfterSeconds, attempts, shortest, longest] of failures)
  test(`${code} ${status} with Retry-After ${retryAfterSeconds} waits ${shortest} to ${longest} ms at attempt ${attempts}`, () => {
    const details = { ...(status !== null && { status }), retryAfterSeconds, attempts };
    const error = new AnimalStoreError(code, '', details);
    assert.deepEqual([planWaitMs(error, 60_000, 0), planWaitMs(error, 60_000, 1)], [shortest, longest]);
  });
