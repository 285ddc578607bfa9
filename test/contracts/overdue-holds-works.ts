import { closeOverdueHold } from '../../src/pets/close-overdue-hold.ts';
import { defineWork } from '../../src/storage/database.ts';

/** This transaction is in a separate file, because a worker thread imports the file. */
export const closeHold = defineWork(
  import.meta.url,
  'closeHold',
  ({ petId }: { petId: bigint }) => closeOverdueHold(petId),
  'row locks',
);
