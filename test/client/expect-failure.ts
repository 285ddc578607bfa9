import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { AnimalStoreError } from '../../client/src/index.ts';

/** Requires that a call fails with this code and that the error does not contain the key. Returns the error. */
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
