import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { generateKey } from '../../../src/accounts/api-key.ts';
import { createKeyVerifier } from '../../../src/accounts/key-verifier.ts';
import { createAdmission } from '../../../src/http/admission.ts';
import type { Limiter } from '../../../src/limits/limiter.ts';
import type { Database } from '../../../src/storage/database.ts';

test('keys that cannot be read, asked for at once, end nothing but the requests that came with them', async () => {
  const database = { read: () => Promise.reject(new Error('the store fails')) } as Partial<Database>;
  const verifier = createKeyVerifier(database as Database, Date.now);
  const admission = createAdmission(verifier, {} as Limiter);
  const request = { headers: { authorization: `Bearer ${generateKey('dev')}` } } as IncomingMessage;
  // What one of them begins to read the other waits for; a rejection that nobody catches fails the test.
  for (let count = 0; count < 2; count += 1) assert.equal(admission.admit(request, 'pets:write'), null);
  await nextTurn();
});
