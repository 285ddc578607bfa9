import type { PetStatus } from './pet.ts';

/**
 * The animals that a cached response depends on: those with an id from `oldestId` to `newestId`, and with `status` and
 * `categoryId` if these are given. A null id means no bound. A null `newestId` therefore includes animals that are
 * added later.
 */
export interface PetSelection {
  readonly newestId: bigint | null;
  readonly oldestId: bigint | null;
  readonly status?: PetStatus | undefined;
  readonly categoryId?: bigint | undefined;
}

/**
 * A change or deletion of an animal. On PostgreSQL, an addition is an edit, too. In an addition or a deletion, the
 * former values equal the new values.
 */
export interface Edit {
  /** Increases with each edit: the id of the event on SQLite, a number of this instance on PostgreSQL. */
  readonly id: bigint;
  readonly pet_id: bigint;
  readonly status: string;
  readonly former_status: string;
  readonly category_id: bigint;
  readonly former_category_id: bigint;
}

/** Returns true if the edited animal may belong to the selection, before or after the edit. */
export function affects(edit: Edit, { newestId, oldestId, status, categoryId }: PetSelection): boolean {
  return (
    (newestId === null || edit.pet_id <= newestId) &&
    (oldestId === null || edit.pet_id >= oldestId) &&
    (status === undefined || edit.status === status || edit.former_status === status) &&
    (categoryId === undefined || edit.category_id === categoryId || edit.former_category_id === categoryId)
  );
}
