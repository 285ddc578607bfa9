import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type KeyEnd, readRevocation, readScopes, readState } from '../../src/accounts/key-state.ts';

const end = (expiresAtMs: bigint | null, revokedAtMs: bigint | null): KeyEnd => ({
  expires_at_ms: expiresAtMs,
  revoked_at_ms: revokedAtMs,
});

describe('a key', () => {
  test('is active if it has no expiry', () => {
    assert.equal(readState(end(null, null), Number.MAX_SAFE_INTEGER), 'active');
  });

  test('is expired from the millisecond of its expiry on', () => {
    assert.equal(readState(end(1_000n, null), 999), 'active');
    assert.equal(readState(end(1_000n, null), 1_000), 'expired');
  });

  test('is valid until the end of its overlap if it was rotated, and then expired', () => {
    assert.equal(readState(end(1_000n, 1_000n), 999), 'rotated');
    assert.equal(readState(end(1_000n, 1_000n), 1_000), 'expired');
    assert.equal(readRevocation(end(1_000n, 1_000n)), null);
  });

  test('stays revoked before and after its expiry', () => {
    for (const expiresAtMs of [null, 1_000n])
      for (const nowMs of [0, 500, 2_000]) assert.equal(readState(end(expiresAtMs, 500n), nowMs), 'revoked');
    assert.equal(readRevocation(end(1_000n, 500n)), 500);
  });

  test('has no revocation time if it was not revoked', () => {
    assert.equal(readRevocation(end(null, null)), null);
    assert.equal(readRevocation(end(1_000n, null)), null);
  });
});

test('stored scopes are returned in their standard order, without unknown scopes', () => {
  assert.deepEqual(readScopes('pets:write pets:read'), ['pets:read', 'pets:write']);
  assert.deepEqual(readScopes('pets:write fish:read'), ['pets:write']);
  assert.deepEqual(readScopes(''), []);
});
