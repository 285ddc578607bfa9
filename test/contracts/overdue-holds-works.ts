import { closeOverdueHold } from '../../src/pets/close-overdue-hold.ts';
import { defineWork } from '../../src/storage/database.ts';

/** Stands apart from the tests, because a thread imports its module. */
export const closeHold = defineWork(
  import.meta.url,
  'closeHold',
  ({ petId }: { petId: bigint }) => closeOverdueHold(petId),
  'row locks',
);
