import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateKey } from '../../../src/accounts/api-key.ts';
import { createKeyLookup } from '../../../src/accounts/key-lookup.ts';
import { createKeyVerifier } from '../../../src/accounts/key-verifier.ts';
import type { Exchange } from '../../../src/http/exchange.ts';
import { createGate } from '../../../src/http/request/gate.ts';
import { createLimiter } from '../../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../../src/limits/memory/memory-counters.ts';
import type { Database } from '../../../src/storage/database.ts';

test('requests are refused and not counted if the lookup of their key fails, even several at once', async () => {
  const database = { read: () => Promise.reject(new Error('the store fails')) } as Partial<Database>;
  const clock = () => Date.UTC(2027, 0, 2, 12);
  const verifier = createKeyVerifier(database as Database, clock);
  const limiter = createLimiter({ counters: createMemoryCounters(), clock });
  const keyLookup = createKeyLookup({ verifier, findRefusal: limiter.findRefusal, clock });
  const gate = createGate(keyLookup, limiter, () => '192.0.2.1');
  const request = { headers: { authorization: `Bearer ${generateKey('dev')}` } };
  const arrive = () => ({ request, match: { access: 'key' }, caller: null }) as unknown as Exchange;
  // The second request shares the read of the first.
  const exchanges = [arrive(), arrive()];
  for (const refusal of await Promise.all(exchanges.map(gate.admit)))
    assert.equal(refusal?.code, 'internal_error');
  for (const { caller, limit } of exchanges) {
    assert.equal(caller, null);
    assert.equal(limit?.['x-ratelimit-remaining'], '60');
  }
});
