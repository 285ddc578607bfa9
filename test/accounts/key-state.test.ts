import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRevocation, readScopes, readState } from '../../src/accounts/key-state.ts';

/** The expiry, the revocation, the time, and the state at this time. */
const states = [
  [null, null, Number.MAX_SAFE_INTEGER, 'active'],
  [1_000n, null, 999, 'active'],
  [1_000n, null, 1_000, 'expired'],
  [1_000n, 1_000n, 999, 'rotated'],
  [1_000n, 1_000n, 1_000, 'expired'],
  [null, 500n, 0, 'revoked'],
  [null, 500n, 500, 'revoked'],
  [1_000n, 500n, 0, 'revoked'],
  [1_000n, 500n, 2_000, 'revoked'],
] as const;

for (const [expiresAtMs, revokedAtMs, nowMs, state] of states)
  test(`a key with the expiry ${expiresAtMs} and the revocation ${revokedAtMs} is ${state} at ${nowMs}`, () => {
    const end = { expires_at_ms: expiresAtMs, revoked_at_ms: revokedAtMs };
    assert.equal(readState(end, nowMs), state);
    assert.equal(readRevocation(end), state === 'revoked' ? 500 : null);
  });

test('stored scopes are returned in their standard order, without unknown scopes', () => {
  assert.deepEqual(readScopes('pets:write pets:read'), ['pets:read', 'pets:write']);
  assert.deepEqual(readScopes('pets:write fish:read'), ['pets:write']);
  assert.deepEqual(readScopes(''), []);
});
