import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { AnimalStore, AnimalStoreError, type AnimalStoreOptions } from '../../client/src/index.ts';
import { scopes } from '../../src/accounts/account.ts';
import { type Ending, startWithKey } from '../support/service.ts';

/** Starts a service. `connect` makes a client of it, whose key has every scope; the options replace the usual ones. */
export async function openShop(test: Ending, settings: Record<string, string> = {}) {
  const { service, key: apiKey } = await startWithKey(test, settings, 'enterprise', undefined, { scopes });
  const usual = { apiKey, baseUrl: service.baseUrl, onDeprecation: () => {} };
  const connect = (options: Partial<AnimalStoreOptions> = {}) => new AnimalStore({ ...usual, ...options });
  return { service, apiKey, baseUrl: service.baseUrl, connect, client: connect() };
}

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
