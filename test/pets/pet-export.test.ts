import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { writeRows } from '../../src/cli/export.ts';
import { int64Max, int64Min } from '../../src/int64.ts';
import { newPetRules, type Pet, petFields, petStatuses } from '../../src/pets/pet.ts';
import { petFileFormats } from '../../src/pets/pet-files.ts';
import { pickPetFields } from '../../src/pets/pet-values.ts';
import { readFile } from './read-file.ts';

const anyPet = fc
  .record({
    id: fc.bigInt(1n, int64Max),
    name: fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }),
      fc.string({
        unit: fc.constantFrom('"', ',', ' ', 'x', '=', '\\', '\ufeff', '\u2028', '🐈'),
        maxLength: 9,
      }),
    ),
    categoryId: fc.oneof(fc.bigInt(int64Min, int64Max), fc.constantFrom(int64Min, int64Max)),
    status: fc.constantFrom(...petStatuses),
  })
  .filter(newPetRules.accepts);

async function* inBatches(pets: readonly Pet[]) {
  yield pets.slice(0, 1);
  yield pets.slice(1);
}

async function write(pets: readonly Pet[], format: (typeof petFileFormats)[number]): Promise<string> {
  return (await Array.fromAsync(writeRows(inBatches(pets), ['id', ...petFields], format))).join('');
}

describe('an export', () => {
  for (const format of petFileFormats)
    test(`as ${format} is imported again without losing a digit or a character`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyPet, { maxLength: 8 }), async (pets) => {
          const { pets: readBack, badRows } = await readFile(await write(pets, format), format);
          assert.deepEqual(badRows, []);
          assert.deepEqual(readBack.map(pickPetFields), pets.map(pickPetFields));
        }),
      );
    });

  const pets: Pet[] = [
    { id: 1n, name: '=Rex, "the first"', categoryId: int64Min, status: 'sold' },
    { id: int64Max, name: 'Žofka', categoryId: int64Max, status: 'available' },
  ];

  for (const [format, rows, none] of [
    [
      'csv',
      'id,name,categoryId,status\n' +
        '1,"=Rex, ""the first""",-9223372036854775808,sold\n' +
        '9223372036854775807,Žofka,9223372036854775807,available\n',
      'id,name,categoryId,status\n',
    ],
    [
      'ndjson',
      '{"id":1,"name":"=Rex, \\"the first\\"","categoryId":-9223372036854775808,"status":"sold"}\n' +
        '{"id":9223372036854775807,"name":"Žofka","categoryId":9223372036854775807,"status":"available"}\n',
      '',
    ],
  ] as const)
    test(`as ${format} has the unchanged values of the fields in the documented order`, async () => {
      assert.equal(await write(pets, format), rows);
      assert.equal(await write([], format), none);
    });
});
