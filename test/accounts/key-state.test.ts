import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KeyEnd, readRevocation, readScopes, readState } from '../../src/accounts/key-state.ts';

const end = (expiresAtMs: bigint | null, revokedAtMs: bigint | null): KeyEnd => ({
  expires_at_ms: expiresAtMs,
  revoked_at_ms: revokedAtMs,
});

describe('a key', () => {
  test('without an end is active', () => {
    assert.equal(readState(end(null, null), Number.MAX_SAFE_INTEGER), 'active');
  });

  test('expires at the millisecond of its expiry', () => {
    assert.equal(readState(end(1_000n, null), 999), 'active');
    assert.equal(readState(end(1_000n, null), 1_000), 'expired');
  });

  test('that was rotated is valid until the end of its overlap, and expired then', () => {
    assert.equal(readState(end(1_000n, 1_000n), 999), 'rotated');
    assert.equal(readState(end(1_000n, 1_000n), 1_000), 'expired');
    assert.equal(readRevocation(end(1_000n, 1_000n)), null);
  });

  test('that was revoked stays revoked, before its expiry and after it', () => {
    for (const expiresAtMs of [null, 1_000n])
      for (const nowMs of [0, 500, 2_000]) assert.equal(readState(end(expiresAtMs, 500n), nowMs), 'revoked');
    assert.equal(readRevocation(end(1_000n, 500n)), 500);
  });

  test('that was not revoked has no time of revocation', () => {
    assert.equal(readRevocation(end(null, null)), null);
    assert.equal(readRevocation(end(1_000n, null)), null);
  });
});

test('scopes are read in their own order, and an unknown one is ignored', () => {
  assert.deepEqual(readScopes('pets:write pets:read'), ['pets:read', 'pets:write']);
  assert.deepEqual(readScopes('pets:write fish:read'), ['pets:write']);
  assert.deepEqual(readScopes(''), []);
});
