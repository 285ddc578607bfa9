import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPetRules } from '../../src/pets/pet.ts';
import { nameLengthMax } from '../../src/schema.ts';

const { accepts, findViolations } = newPetRules;
const rex = { name: 'Rex', categoryId: 1n };
const list = (name: string) => JSON.stringify(name);

test('a name may have 1 to 255 code points of any script, beside white space and C1 control characters', () => {
  const lengths = ['R', 'R'.repeat(nameLengthMax), '😀'.repeat(nameLengthMax)];
  // A zero-width space is no white space, and a combining mark may stand alone.
  for (const name of [...lengths, '  R\u00a0', '\u200b', '\u0301', 'a\u0080', 'כלב'])
    assert.deepEqual(findViolations({ ...rex, name }), [], list(name));
});

test('a name without a visible character, too long or with a control character is refused', () => {
  const whites = ' \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';
  const tooLong = ['R'.repeat(nameLengthMax + 1), '😀'.repeat(nameLengthMax + 1), '🇩🇪'.repeat(128)];
  const surrogates = ['a\ud83d', '\ude00a', '\ude00\ud83d'];
  const controls = [...Array(0x20).keys(), 0x7f].map((code) => String.fromCharCode(code));
  const controlled = controls.flatMap((control) => [`${control}Rex`, `R${control}ex`, `Rex${control}`]);
  for (const name of ['', ...tooLong, ...whites, whites, ...surrogates, ...controlled]) {
    const [violation] = findViolations({ ...rex, name });
    assert.equal(violation?.field, 'name', list(name));
    assert.match(violation.rule, /255 characters/);
    assert.equal(accepts({ ...rex, name }), false, list(name));
  }
});

test('every invalid field is named with its rule', () => {
  const [name, categoryId, status] = findViolations({ name: 1n, status: 'lost' });
  assert.equal(name?.field, 'name');
  assert.deepEqual(categoryId, { field: 'categoryId', rule: 'is required' });
  assert.equal(status?.field, 'status');
  assert.match(status.rule, /available, pending, sold/);
});
