import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDescriptorLimit, shareDescriptors } from '../../../src/http/connection/descriptors.ts';

test('clients never take the descriptors of the store, webhooks and the operator', () => {
  for (const limit of [1_024, 4_096, 20_000]) {
    const { open, operator } = shareDescriptors(limit, 10);
    assert.ok(open > limit / 4 && open + operator + 300 < limit, `${limit}: ${open} and ${operator}`);
  }
});

test('with enough descriptors, the numbers of connections are the documented ones', () => {
  const documented = { open: 20_000, operator: 1_000 };
  for (const limit of [65_536, null]) assert.deepEqual(shareDescriptors(limit, 100), documented);
});

test('with very few descriptors, both ports still take connections', () => {
  assert.deepEqual(shareDescriptors(256, 10), { open: 64, operator: 25 });
});

test('the limit of this process is known', () => {
  assert.ok((readDescriptorLimit() ?? 0) > 0);
});
