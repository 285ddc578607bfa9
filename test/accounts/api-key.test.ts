import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateKey, isKeyText, keyEnvironments } from '../../src/accounts/api-key.ts';
import { randomText } from '../../src/random-text.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function makeKeys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => generateKey(keyEnvironments[index % 3] ?? 'dev'));
}

function exchange(text: string, index: number, replacement: string): string {
  return text.slice(0, index) + replacement + text.slice(index + replacement.length);
}

describe('the text of a key', () => {
  test('has its environment, at least 128 random bits in base62 and a checksum of 6 characters', () => {
    for (const environment of keyEnvironments) {
      const key = generateKey(environment);
      assert.match(key, new RegExp(`^as_${environment}_[0-9A-Za-z]{28}$`));
      assert.ok(isKeyText(key));
    }
    assert.ok((28 - 6) * Math.log2(base62.length) >= 128);
  });

  test('is never generated twice', () => {
    assert.equal(new Set(makeKeys(10_000)).size, 10_000);
  });

  test('has each character of base62 equally often', () => {
    const text = randomText(200_000);
    const counts = Map.groupBy(text, (character) => character);
    assert.deepEqual([...counts.keys()].sort().join(''), base62);
    const expected = text.length / base62.length;
    let chiSquare = 0;
    for (const { length } of counts.values()) chiSquare += (length - expected) ** 2 / expected;
    // 61 degrees of freedom: chance goes beyond 160 once in 10^10 runs; a byte modulo 62 gives about 1,600.
    assert.ok(chiSquare < 160, `chi-square ${chiSquare}`);
  });

  test('ends in the CRC-32 of the text before it, in every release', () => {
    assert.ok(isKeyText('as_live_00000000000000000000000uHY3N'));
  });
});

describe('a mistyped key', () => {
  test('is recognised if any character is replaced by another one', () => {
    for (const key of makeKeys(12))
      for (let index = 0; index < key.length; index += 1)
        for (const character of `${base62}_- é\0`)
          if (character !== key[index])
            assert.ok(!isKeyText(exchange(key, index, character)), exchange(key, index, character));
  });

  test('is recognised if any two adjacent characters are swapped', () => {
    for (const key of makeKeys(3_000))
      for (let index = 0; index + 1 < key.length; index += 1) {
        const [first = '', second = ''] = key.slice(index, index + 2);
        if (first !== second)
          assert.ok(!isKeyText(exchange(key, index, second + first)), `${key} at ${index}`);
      }
  });

  test('is recognised if a part is missing or added, or if the environment differs', () => {
    const key = generateKey('dev');
    const parts = ['', 'as_dev_', key.slice(0, -1), key.slice(1)];
    const longer = [`${key}0`, `${key}\n`, ` ${key}`, `${key}${key}`];
    for (const text of [...parts, ...longer, key.replace('dev', 'live'), key.toUpperCase()])
      assert.ok(!isKeyText(text), JSON.stringify(text));
  });
});
