import { closeOverdueHold } from '../../src/pets/close-overdue-hold.ts';
import { defineTransaction } from '../../src/storage/database.ts';

/** This transaction is in a separate file, because a worker thread imports the file. */
export const closeHold = defineTransaction(
  'closeHold',
  ({ petId }: { petId: bigint }) => closeOverdueHold(petId),
  'row locks',
);
