import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coversScope, isAccountName, parseScopes, scopes } from '../../src/accounts/account.ts';

const names = ['a', '...', 'Acme Zoo', '動物園', "O'Neill & \u201cSons\u201d; drop table"];
const wrongNames = ['', '.', '..', 'deleted-7', ' ', ' a', 'a ', '\u00a0a', 'a\tb', 'a\nb', 'a\0'];
const unprintable = ['\x1b[31m', 'a\x7f', '\x9b31m', '\ud800'];

test('the name of an account has 1 to 100 printable characters without a space at its ends', () => {
  for (const name of [...names, 'x'.repeat(100), '🦊'.repeat(100)]) assert.ok(isAccountName(name), name);
  const tooLong = ['x'.repeat(101), '🦊'.repeat(101), 'x'.repeat(1_000_000)];
  for (const text of [...wrongNames, ...unprintable, ...tooLong])
    assert.ok(!isAccountName(text), JSON.stringify(text.slice(0, 30)));
});

test('a list of scopes is parsed in any order, with spaces and duplicates', () => {
  assert.deepEqual(parseScopes('pets:read'), ['pets:read']);
  assert.deepEqual(parseScopes('pets:write, pets:read'), ['pets:read', 'pets:write']);
  assert.deepEqual(parseScopes('pets:write,pets:write'), ['pets:write']);
  assert.deepEqual(parseScopes('all'), scopes);
});

test('a text that is no list of scopes is refused with a reason', () => {
  const wrong = ['', ',', 'pets:read,', 'pets', 'PETS:READ', 'pets:read pets:write', 'pets:delete,pets:read'];
  for (const text of wrong) {
    const parsed = parseScopes(text);
    assert.ok('problem' in parsed);
    assert.match(parsed.problem, /^scopes must be "all" or a comma-separated list of pets:read, .*, not "/);
  }
});

test('orders:manage covers the other order scopes, every other scope only itself', () => {
  assert.equal(coversScope(['pets:read'], 'pets:read'), true);
  assert.equal(coversScope(['pets:manage'], 'pets:write'), false);
  assert.equal(coversScope(['orders:manage'], 'orders:read'), true);
  assert.equal(coversScope(['orders:manage'], 'orders:write'), true);
  assert.equal(coversScope(['orders:manage'], 'pets:read'), false);
  assert.equal(coversScope(['orders:read', 'orders:write'], 'orders:manage'), false);
});
