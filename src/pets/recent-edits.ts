import { affects, type Edit, type PetSelection } from './pet-selection.ts';

/** The newest edits of animals. They show whether a cached response may be stale. */
export interface RecentEdits {
  /** Adds edits that are newer than all earlier ones, in ascending order of their ids. */
  add(edits: readonly Edit[]): void;
  /**
   * Returns true if an edit with an id above `since` affects the selection. Also returns true if edits above `since`
   * have been dropped.
   */
  mayAffect(selection: PetSelection, since: bigint): boolean;
}

const blockEdits = 64;

/** Consecutive edits with the lowest and the highest id of the edited animals. */
interface Block {
  readonly edits: Edit[];
  lowestPet: bigint;
  highestPet: bigint;
}

/**
 * Keeps at least the newest `editsMax` edits. A lookup skips each block whose animals are all outside the selection.
 * This is the usual case, because most edits concern new animals and most pages show older ones.
 */
export function createRecentEdits(editsMax: number): RecentEdits {
  const blocksMax = Math.ceil(editsMax / blockEdits) + 1;
  const blocks: Block[] = [];
  /** All edits with an id above this one are in `blocks`. */
  let knownAfter = 0n;

  function append(edit: Edit): void {
    const last = blocks.at(-1);
    if (last === undefined || last.edits.length >= blockEdits) {
      blocks.push({ edits: [edit], lowestPet: edit.pet_id, highestPet: edit.pet_id });
      return;
    }
    last.edits.push(edit);
    if (edit.pet_id < last.lowestPet) last.lowestPet = edit.pet_id;
    if (edit.pet_id > last.highestPet) last.highestPet = edit.pet_id;
  }

  return {
    add(more) {
      for (const edit of more) append(edit);
      const dropped = blocks.splice(0, Math.max(0, blocks.length - blocksMax));
      knownAfter = dropped.at(-1)?.edits.at(-1)?.id ?? knownAfter;
    },

    mayAffect(selection, since) {
      if (since < knownAfter) return true;
      for (let at = blocks.length - 1; at >= 0; at -= 1) {
        const block = blocks[at];
        if (block === undefined || (block.edits.at(-1)?.id ?? 0n) <= since) return false;
        if (overlaps(block, selection) && affectsAny(block, selection, since)) return true;
      }
      return false;
    },
  };
}

function overlaps({ lowestPet, highestPet }: Block, { newestId, oldestId }: PetSelection): boolean {
  return (newestId === null || lowestPet <= newestId) && (oldestId === null || highestPet >= oldestId);
}

function affectsAny({ edits }: Block, selection: PetSelection, since: bigint): boolean {
  for (let at = edits.length - 1; at >= 0; at -= 1) {
    const edit = edits[at];
    if (edit === undefined || edit.id <= since) return false;
    if (affects(edit, selection)) return true;
  }
  return false;
}
