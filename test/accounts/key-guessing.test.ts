import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { isKeyText } from '../../src/accounts/api-key.ts';
import { createKeyVerifier } from '../../src/accounts/key-verifier.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Engine } from '../support/engines.ts';
import { createWorld, engines, order } from './world.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const checksumLength = 6;

/** What a guesser who knows the form would send: the start of a valid key, other characters after it, a right checksum. */
function guess(key: string, knownLength: number): string {
  const body = key.slice(0, -checksumLength);
  const rest = [...body.slice(knownLength)].map((character) => (character === 'a' ? 'b' : 'a'));
  const text = body.slice(0, knownLength) + rest.join('');
  let left = crc32(text);
  let checksum = '';
  for (let place = 0; place < checksumLength; place += 1) {
    checksum = base62.charAt(left % base62.length) + checksum;
    left = Math.floor(left / base62.length);
  }
  return text + checksum;
}

/** A verifier whose reads are noted: the statement and what it is given. */
async function createNoted(t: TestContext, engine: Engine) {
  const { database, clock, keyring } = await createWorld(t, engine);
  const reads: { readonly statement: unknown; readonly parameters: unknown }[] = [];
  const noted: Database = {
    ...database,
    read(statement, parameters) {
      reads.push({ statement, parameters });
      return database.read(statement, parameters);
    },
  };
  const { key } = await keyring.issue(order());
  return { verifier: createKeyVerifier(noted, clock.now), key, reads };
}

for (const engine of engines)
  describe(`guessing keys on ${engine.name}`, { skip: engine.skip }, () => {
    test('costs the same read for every guess, however similar it is to a valid key', async (t) => {
      const { verifier, key, reads } = await createNoted(t, engine);
      const guesses = [8, 12, 20, key.length - checksumLength - 1].map((length) => guess(key, length));
      for (const text of guesses) {
        assert.ok(isKeyText(text));
        assert.deepEqual(await verifier.verify(text), { refusal: 'api_key_invalid' });
      }
      await verifier.verify(key);
      assert.equal(reads.length, guesses.length + 1);
      assert.equal(new Set(reads.map(({ statement }) => statement)).size, 1);
    });

    test('the store looks up the SHA-256 of the whole text, whose start a guesser does not know', async (t) => {
      const { verifier, key, reads } = await createNoted(t, engine);
      const texts = [key, guess(key, key.length - checksumLength - 1)];
      for (const text of texts) await verifier.verify(text);
      assert.deepEqual(
        reads.map(({ parameters }) => parameters),
        texts.map((text) => ({ secretHash: hash('sha256', text, 'buffer') })),
      );
    });
  });

test('no part of a stored secret is compared in the program', async () => {
  const source = join(import.meta.dirname, '../../src/accounts');
  for (const file of await readdir(source)) {
    const text = await readFile(join(source, file), 'utf8');
    assert.doesNotMatch(text, /secret_?[hH]ash\)?\s*(?:===|!==|\.equals|\.compare|\.startsWith)/, file);
  }
});
