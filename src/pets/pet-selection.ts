import type { PetStatus } from './pet.ts';

/**
 * The animals that an answer is made of: those from `oldestId` (null: the first) to `newestId` (null: the last, and all
 * that are still to be added), of a status and of a category, if named.
 */
export interface PetSelection {
  readonly newestId: bigint | null;
  readonly oldestId: bigint | null;
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
}

/** The change or deletion of an animal; a deleted animal was and became the same. */
export interface Edit {
  /** The id of its event. */
  readonly id: bigint;
  readonly pet_id: bigint;
  readonly status: string;
  readonly former_status: string;
  readonly category_id: bigint;
  readonly former_category_id: bigint;
}

/** Whether an edit changes what a selection holds. */
export function touches(edit: Edit, { newestId, oldestId, status, categoryId }: PetSelection): boolean {
  return (
    (newestId === null || edit.pet_id <= newestId) &&
    (oldestId === null || edit.pet_id >= oldestId) &&
    (status === undefined || edit.status === status || edit.former_status === status) &&
    (categoryId === undefined || edit.category_id === categoryId || edit.former_category_id === categoryId)
  );
}
