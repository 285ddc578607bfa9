import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnimalStoreError } from '../../client/src/index.ts';
import { planWaitMs } from '../../client/src/retry.ts';

/** Failures, each with the minimum and the maximum wait before a retry. */
const failures: readonly (readonly [
  ConstructorParameters<typeof AnimalStoreError>,
  readonly (number | null)[],
])[] = [
  [
    ['rate_limit_exceeded', '', { status: 429, retryAfterSeconds: 7, attempts: 1 }],
    [7_000, 7_000],
  ],
  [
    ['rate_limit_exceeded', '', { status: 429, retryAfterSeconds: 7, attempts: 2 }],
    [7_000, 8_000],
  ],
  [
    ['key_banned', '', { status: 429, retryAfterSeconds: 60, attempts: 1 }],
    [60_000, 60_000],
  ],
  [
    ['key_banned', '', { status: 429, retryAfterSeconds: 61, attempts: 1 }],
    [null, null],
  ],
  [
    ['unavailable', '', { status: 503, retryAfterSeconds: 1, attempts: 1 }],
    [1_000, 1_500],
  ],
  [
    ['unavailable', '', { status: 503, retryAfterSeconds: 60, attempts: 3 }],
    [60_000, 60_000],
  ],
  [
    ['internal_error', '', { status: 500, attempts: 1 }],
    [0, 500],
  ],
  [
    ['unexpected_answer', '', { status: 502, attempts: 2 }],
    [0, 1_000],
  ],
  [
    ['connection_failed', '', { attempts: 3 }],
    [0, 2_000],
  ],
  [
    ['timed_out', '', { attempts: 90 }],
    [0, 8_000],
  ],
  [
    ['request_timeout', '', { status: 408, attempts: 1 }],
    [0, 500],
  ],
  [
    ['idempotency_key_in_use', '', { status: 409, attempts: 1 }],
    [0, 500],
  ],
  [
    ['idempotency_key_reused', '', { status: 422, attempts: 1 }],
    [null, null],
  ],
  [
    ['api_key_invalid', '', { status: 401, attempts: 1 }],
    [null, null],
  ],
  [
    ['unexpected_answer', '', { status: 200, attempts: 1 }],
    [null, null],
  ],
  [
    ['invalid_argument', ''],
    [null, null],
  ],
];

for (const [given, waits] of failures)
  test(`after ${given[0]} ${JSON.stringify(given[2])} the wait is from ${waits.join(' to ')} ms`, () => {
    const error = new AnimalStoreError(...given);
    assert.deepEqual([planWaitMs(error, 60_000, 0), planWaitMs(error, 60_000, 1)], waits);
  });
