import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { coversScope, isAccountName, parseScopes, scopes } from '../../src/accounts/account.ts';

describe('the name of an account', () => {
  const names = [
    'a',
    '...',
    'Acme Zoo',
    '動物園',
    "O'Neill & \u201cSons\u201d; drop table",
    'x'.repeat(100),
    '🦊'.repeat(100),
  ];
  for (const name of names)
    test(`may be ${JSON.stringify(name.slice(0, 30))} (${[...name].length} characters)`, () => {
      assert.ok(isAccountName(name));
    });

  const noNames = [
    '',
    '.',
    '..',
    ' ',
    ' a',
    'a ',
    '\u00a0a',
    'a\tb',
    'a\nb',
    'a\0',
    '\x1b[31m',
    'a\x7f',
    '\x9b31m',
    '\ud800',
  ];
  for (const text of [...noNames, 'x'.repeat(101), '🦊'.repeat(101), 'x'.repeat(1_000_000)])
    test(`may not be ${JSON.stringify(text.slice(0, 30))} (${text.length} UTF-16 code units)`, () => {
      assert.ok(!isAccountName(text));
    });
});

describe('a list of scopes', () => {
  test('may have any number of scopes, in any order and with spaces, and is parsed without duplicates', () => {
    assert.deepEqual(parseScopes('pets:read'), ['pets:read']);
    assert.deepEqual(parseScopes('pets:write, pets:read'), ['pets:read', 'pets:write']);
    assert.deepEqual(parseScopes('pets:write,pets:write'), ['pets:write']);
    assert.deepEqual(parseScopes('all'), scopes);
  });

  test('covers its own scopes; orders:manage also covers the other order scopes', () => {
    assert.equal(coversScope(['pets:read'], 'pets:read'), true);
    assert.equal(coversScope(['pets:manage'], 'pets:write'), false);
    assert.equal(coversScope(['orders:manage'], 'orders:read'), true);
    assert.equal(coversScope(['orders:manage'], 'orders:write'), true);
    assert.equal(coversScope(['orders:manage'], 'pets:read'), false);
    assert.equal(coversScope(['orders:read', 'orders:write'], 'orders:manage'), false);
  });

  for (const text of [
    '',
    ',',
    'pets:read,',
    'pets',
    'PETS:READ',
    'pets:read pets:write',
    'pets:delete,pets:read',
  ])
    test(`is refused with a reason if it is "${text}"`, () => {
      const parsed = parseScopes(text);
      assert.ok('problem' in parsed);
      assert.match(
        parsed.problem,
        /^scopes must be "all" or a comma-separated list of pets:read, pets:write, .*, not "/,
      );
    });
});
