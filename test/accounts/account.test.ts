import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isAccountName, parseScopes } from '../../src/accounts/account.ts';

describe('the name of an account', () => {
  const names = [
    'a',
    'Acme Zoo',
    '動物園',
    "O'Neill & \u201cSons\u201d; drop table",
    'x'.repeat(100),
    '🦊'.repeat(100),
  ];
  for (const name of names)
    test(`may be ${JSON.stringify(name.slice(0, 30))} of ${[...name].length} characters`, () => {
      assert.ok(isAccountName(name));
    });

  const noNames = [
    '',
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
    test(`may not be ${JSON.stringify(text.slice(0, 30))} of ${text.length} code units`, () => {
      assert.ok(!isAccountName(text));
    });
});

describe('a list of scopes', () => {
  test('names one or all, in any order, with blanks, once each', () => {
    assert.deepEqual(parseScopes('pets:read'), ['pets:read']);
    assert.deepEqual(parseScopes('pets:write, pets:read'), ['pets:read', 'pets:write']);
    assert.deepEqual(parseScopes('pets:write,pets:write'), ['pets:write']);
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
    test(`is refused with the reason where it is "${text}"`, () => {
      const parsed = parseScopes(text);
      assert.ok('problem' in parsed);
      assert.match(parsed.problem, /^scopes must be among pets:read, pets:write, not "/);
    });
});
