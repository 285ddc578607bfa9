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

/** Creates a guess: the first `knownLength` characters of a valid key, then other characters and a valid checksum. */
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

/** Creates a verifier and records the statement and the parameters of each read. */
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
    test('costs the same read for every guess, however similar the guess is to a valid key', async (t) => {
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

    test('looks up the SHA-256 of the whole key, so that the lookup reveals no part of a valid key', async (t) => {
      const { verifier, key, reads } = await createNoted(t, engine);
      const texts = [key, guess(key, key.length - checksumLength - 1)];
      for (const text of texts) await verifier.verify(text);
      assert.deepEqual(
        reads.map(({ parameters }) => parameters),
        texts.map((text) => ({ secretHash: hash('sha256', text, 'buffer') })),
      );
    });
  });

test('the program never compares a stored hash of a key itself', async () => {
  const source = join(import.meta.dirname, '../../src/accounts');
  for (const file of await readdir(source)) {
    const text = await readFile(join(source, file), 'utf8');
    assert.doesNotMatch(text, /secret_?[hH]ash\)?\s*(?:===|!==|\.equals|\.compare|\.startsWith)/, file);
  }
});
