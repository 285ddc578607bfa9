import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChanges, readInputs } from '../../src/operator/console/pages/read-inputs.ts';

const inputs = [
  { field: 'name', isInt64: false, isRemovable: false },
  { field: 'categoryId', isInt64: true, isRemovable: false },
  { field: 'colour', isInt64: false, isRemovable: true },
  { field: 'weight', isInt64: true, isRemovable: true },
];
const pet = { id: '7', name: 'Rex', categoryId: '1', colour: 'brown', weight: '12' };
const same = { name: 'Rex', categoryId: '1', colour: 'brown', weight: '12' };

test('the form of a new animal has only the fields that were entered', () => {
  assert.deepEqual(readInputs(inputs, { name: ' Rex', weight: ' 12 ' }), { name: ' Rex', weight: 12n });
});

test('a form that nobody has changed changes nothing', () => {
  assert.deepEqual(readChanges(inputs, pet, same), {});
  const { colour: _colour, weight: _weight, ...bare } = same;
  assert.deepEqual(readChanges(inputs, { ...bare, id: '7' }, bare), {});
});

test('a change has only the fields that differ from those of the animal', () => {
  const changes = readChanges(inputs, pet, { ...same, name: 'Max', weight: '13' });
  assert.deepEqual(changes, { name: 'Max', weight: 13n });
});

test('null removes a field that was emptied', () => {
  const { colour: _colour, ...rest } = same;
  assert.deepEqual(readChanges(inputs, pet, { ...rest, weight: ' ' }), { colour: null, weight: null });
});

test('a field that an animal may not lack and that was emptied is sent for the API to refuse', () => {
  assert.deepEqual(readChanges(inputs, pet, { colour: 'brown', weight: '12' }), { name: '', categoryId: '' });
});

test('a text that is no canonical integer is sent for the API to refuse', () => {
  assert.deepEqual(readChanges(inputs, pet, { ...same, categoryId: '007' }), { categoryId: '007' });
});
