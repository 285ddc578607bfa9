import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPetRules } from '../../src/pets/pet.ts';
import { nameLengthMax } from '../../src/schema.ts';

const { accepts, findViolations } = newPetRules;
const rex = { name: 'Rex', categoryId: 1n };

const names: Readonly<Record<string, string>> = {
  'one character': 'R',
  '255 characters': 'R'.repeat(nameLengthMax),
  '255 characters of two UTF-16 units each': '😀'.repeat(nameLengthMax),
  'a letter between blanks': '  R\u00a0',
  'a zero-width space, which is no white space': '\u200b',
  'a combining mark alone': '\u0301',
  'a C1 control character, which is allowed': 'a\u0080',
  'right-to-left letters': 'כלב',
};
test('findViolations accepts every kind of valid name', () => {
  for (const [what, name] of Object.entries(names))
    assert.deepEqual(findViolations({ ...rex, name }), [], what);
});

const badNames: Readonly<Record<string, unknown>> = {
  'no character': '',
  '256 characters': 'R'.repeat(nameLengthMax + 1),
  '256 characters of two UTF-16 units each': '😀'.repeat(nameLengthMax + 1),
  '128 flags, which are 256 characters': '🇩🇪'.repeat(128),
  'blanks alone': '   ',
  'no-break spaces alone (U+00A0)': '\u00a0\u00a0',
  'ideographic spaces alone (U+3000)': '\u3000',
  'next lines alone (U+0085)': '\u0085',
  'a byte order mark alone (U+FEFF)': '\ufeff',
  'a line separator alone (U+2028)': '\u2028',
  'every kind of white space and nothing else':
    ' \u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
  'a lone high surrogate': 'a\ud83d',
  'a lone low surrogate': '\ude00a',
  'surrogates in the wrong order': '\ude00\ud83d',
  'a number': 1n,
  null: null,
  'an array': ['Rex'],
  'an object': { name: 'Rex' },
  'a boolean': true,
};
test('findViolations refuses every kind of invalid name', () => {
  for (const [what, name] of Object.entries(badNames))
    assert.equal(findViolations({ ...rex, name })[0]?.field, 'name', what);
});

test('a new animal cannot have a name with a control character at any position', () => {
  const controls = [...Array(0x20).keys(), 0x7f].map((code) => String.fromCharCode(code));
  for (const control of controls)
    for (const name of [`${control}Rex`, `R${control}ex`, `Rex${control}`])
      assert.equal(accepts({ ...rex, name }), false, JSON.stringify(name));
});

test('findViolations returns every invalid field with its rule', () => {
  const violations = findViolations({ name: '', status: 'lost' });
  assert.deepEqual(
    violations.map(({ field }) => field),
    ['name', 'categoryId', 'status'],
  );
  assert.match(violations[0]?.rule ?? '', /255 characters/);
  assert.equal(violations[1]?.rule, 'is required');
  assert.match(violations[2]?.rule ?? '', /available, pending, sold/);
});
