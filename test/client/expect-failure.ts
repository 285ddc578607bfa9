import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { AnimalStoreError } from '../../client/src/index.ts';

/** Settles with the client's own error that a call fails with, which has a certain code and nowhere holds the key. */
export async function expectFailure(
  call: Promise<unknown> | (() => unknown),
  code: AnimalStoreError['code'],
  apiKey = 'as_secret',
): Promise<AnimalStoreError> {
  const error = await Promise.resolve(typeof call === 'function' ? call() : call).then(
    () => assert.fail('the call did not fail'),
    (reason) => reason,
  );
  assert.ok(error instanceof AnimalStoreError, inspect(error));
  assert.equal(error.code, code, error.message);
  assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(apiKey), 'the error holds the key');
  return error;
}
