import { type Edit, type PetSelection, touches } from './pet-selection.ts';

/** The newest edits of animals, by which it is told whether a kept answer is still right. */
export interface RecentEdits {
  /** Adds edits in the order of their events. */
  add(edits: readonly Edit[]): void;
  /** Whether an edit after an event touches a selection, or may do so. */
  touch(selection: PetSelection, since: bigint): boolean;
}

/** Holds twice `editsMax` at most. */
export function createRecentEdits(editsMax: number): RecentEdits {
  const edits: Edit[] = [];
  /** Every edit after this event is here. */
  let knownAfter = 0n;

  return {
    add(more) {
      edits.push(...more);
      if (edits.length <= 2 * editsMax) return;
      const dropped = edits.splice(0, edits.length - editsMax);
      knownAfter = dropped.at(-1)?.id ?? knownAfter;
    },

    touch(selection, since) {
      if (since < knownAfter) return true;
      for (let at = edits.length - 1; at >= 0; at -= 1) {
        const edit = edits[at];
        if (edit === undefined || edit.id <= since) return false;
        if (touches(edit, selection)) return true;
      }
      return false;
    },
  };
}
