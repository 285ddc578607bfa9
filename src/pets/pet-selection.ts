import type { PetStatus } from './pet.ts';

/**
 * The animals that an answer depends on: those from `oldestId` to `newestId` with the status and category, if given. A
 * null `oldestId` means from the first. A null `newestId` means to the last, including animals added later.
 */
export interface PetSelection {
  readonly newestId: bigint | null;
  readonly oldestId: bigint | null;
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
}

/** A change or deletion of an animal. For a deletion, the former values equal the new ones. */
export interface Edit {
  /** The id of its event. */
  readonly id: bigint;
  readonly pet_id: bigint;
  readonly status: string;
  readonly former_status: string;
  readonly category_id: bigint;
  readonly former_category_id: bigint;
}

/** Whether an edit affects the animals of a selection. */
export function affects(edit: Edit, { newestId, oldestId, status, categoryId }: PetSelection): boolean {
  return (
    (newestId === null || edit.pet_id <= newestId) &&
    (oldestId === null || edit.pet_id >= oldestId) &&
    (status === undefined || edit.status === status || edit.former_status === status) &&
    (categoryId === undefined || edit.category_id === categoryId || edit.former_category_id === categoryId)
  );
}
