import assert from 'node:assert/strict';
import type { RawResponse } from '../../test/support/raw-http.ts';
import type { Call } from './call.ts';

/** The first answers by Idempotency-Key, in one sequence of calls. */
export interface Retries {
  /** Compares the answer to an add with the first answer to the same key. */
  check(call: Call, answer: RawResponse): void;
}

export function createRetries(isPipelined: boolean): Retries {
  const firsts = new Map<string, { readonly sent: string; readonly answered: string }>();

  return {
    check({ headers, key, body }, { status, headers: answered, body: text }) {
      const retryKey = headers.find(({ name }) => name === 'Idempotency-Key')?.text;
      if (retryKey === undefined || !retryKey.startsWith('key-') || body === null) return;
      // The service may handle pipelined calls in any order.
      if (isPipelined || ![201, 409, 422].includes(status)) return;
      const first = firsts.get(`${key} ${retryKey}`);
      if (first === undefined) {
        assert.equal(status, 201, text);
        firsts.set(`${key} ${retryKey}`, { sent: body.text + body.blanks, answered: text });
        return;
      }
      assert.equal(status, first.sent === body.text + body.blanks ? 201 : 422, text);
      if (status === 422) return;
      assert.equal(answered.get('idempotent-replayed'), 'true');
      assert.equal(text, first.answered);
    },
  };
}
