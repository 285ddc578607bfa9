import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { affects, type Edit, type PetSelection } from '../../src/pets/pet-selection.ts';
import { createRecentEdits } from '../../src/pets/recent-edits.ts';

function makeEdit(id: bigint, petId: bigint, status = 'sold'): Edit {
  return {
    id,
    pet_id: petId,
    status,
    former_status: status,
    category_id: 1n,
    former_category_id: 1n,
  };
}

test('mayAffect returns true exactly if at least one recent edit affects the selection', () => {
  const selection = fc.record({
    newestId: fc.option(fc.bigInt(1n, 400n)),
    oldestId: fc.option(fc.bigInt(1n, 400n)),
    status: fc.option(fc.constantFrom('sold', 'pending'), { nil: undefined }),
  });
  const added = fc.array(fc.tuple(fc.bigInt(1n, 400n), fc.constantFrom('sold', 'available')), {
    maxLength: 400,
  });
  fc.assert(
    fc.property(added, selection, fc.bigInt(0n, 400n), (pets, chosen, since) => {
      const edits = pets.map(([petId, status], place) => makeEdit(BigInt(place + 1), petId, status));
      const recent = createRecentEdits(1_000);
      recent.add(edits.slice(0, 100));
      recent.add(edits.slice(100));
      const expected = edits.some((edit) => edit.id > since && affects(edit, chosen as PetSelection));
      assert.equal(recent.mayAffect(chosen as PetSelection, since), expected);
    }),
  );
});

test('mayAffect returns true for every selection if later edits were already evicted', () => {
  const recent = createRecentEdits(100);
  recent.add(Array.from({ length: 1_000 }, (_, place) => makeEdit(BigInt(place + 1), 5n)));
  const other = { newestId: 9n, oldestId: 9n };
  assert.equal(recent.mayAffect(other, 0n), true);
  assert.equal(recent.mayAffect(other, 700n), true);
  assert.equal(recent.mayAffect(other, 900n), false);
  assert.equal(recent.mayAffect({ newestId: 5n, oldestId: 5n }, 999n), true);
  assert.equal(recent.mayAffect({ newestId: 5n, oldestId: 5n }, 1_000n), false);
});
