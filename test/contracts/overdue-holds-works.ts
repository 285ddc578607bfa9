import { expireHold, selectOverdueHold } from '../../src/pets/close-overdue-hold.ts';
import { defineTransaction, type Steps, step } from '../../src/storage/database.ts';

/** This transaction is in a separate file, because a worker thread imports the file. */
export const closeHold = defineTransaction(
  'closeHold',
  function* ({ petId }: { petId: bigint }): Steps<boolean> {
    const [hold] = yield* step(selectOverdueHold, { petId });
    if (hold === undefined) return false;
    yield* expireHold(hold.id, petId);
    return true;
  },
  'row locks',
);
