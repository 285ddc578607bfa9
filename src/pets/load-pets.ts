import { OperatorError } from '../errors.ts';
import type { Database, Steps, Value } from '../storage/database.ts';
import { type BadChanges, changeLoaded, checkLoaded } from './loaded-pets.ts';
import { type NewPet, petColumns, petFields } from './pet.ts';
import { toValues } from './pet-rows.ts';
import { completeNewPet } from './pet-values.ts';

/** A new animal, or a change of the animal `id`. `line` is the line of the change in the import file. */
export type LoadedPet =
  | (NewPet & { readonly id?: undefined })
  | (Partial<NewPet> & { readonly id: bigint; readonly line: number });

/** Numbers of added and changed animals. After a dry run, the numbers that a real run would have. */
export interface LoadedCounts {
  readonly added: number;
  readonly changed: number;
}

/** Options of `loadPets`. */
export interface LoadPetsOptions {
  /** Called after all rows are read and checked, before the first write. If it throws, nothing is stored. */
  readonly onChecked?: () => void;
  /**
   * Gets the changes that are skipped: after the check, and again before the write, if others have become bad since.
   * Without it, a change that would be skipped throws OperatorError.
   */
  readonly onBadChanges?: (bad: BadChanges) => void;
  /** The end of the transaction. If it throws, nothing is stored. */
  readonly finish?: (counts: LoadedCounts) => Steps<void>;
  /** Checks and counts, and writes nothing. */
  readonly isDryRun?: boolean;
}

const columns = [...petFields.map((field) => petColumns[field]), 'is_owned'];

/**
 * Adds and changes animals, all or none. Reads and checks all of `batches` before the first write. A change is skipped if
 * no animal has the id, if an earlier row changes the same animal, or if an order owns the animal and the change sets
 * another status. Overdue holds are closed first, so they own nothing. Throws the errors of `Database.load`.
 */
export async function loadPets(
  database: Database,
  batches: AsyncIterable<readonly LoadedPet[]>,
  { onChecked, onBadChanges = refuse, finish, isDryRun = false }: LoadPetsOptions = {},
): Promise<LoadedCounts> {
  let added = 0;
  let changed = 0;
  async function* readRows() {
    for await (const pets of batches) {
      added += pets.filter(({ id }) => id === undefined).length;
      yield pets.map(toRow);
    }
  }
  function* check() {
    changed = yield* checkLoaded(onBadChanges);
    onChecked?.();
  }
  function* apply() {
    changed = yield* changeLoaded(onBadChanges);
    if (finish !== undefined) yield* finish({ added, changed });
  }
  await database.load('pets', columns, readRows(), { check, apply: isDryRun ? null : apply });
  return { added, changed };
}

function refuse({ first: [bad] }: BadChanges): void {
  if (bad !== undefined) throw new OperatorError(`line ${bad.line}: ${bad.field} ${bad.rule}`);
}

/** The values of `columns`, then the id of the animal to change and the line, which are null for a new animal. */
function toRow(pet: LoadedPet): readonly Value[] {
  const values = toValues(pet.id === undefined ? completeNewPet(pet) : pet);
  const change = pet.id === undefined ? [null, null] : [pet.id, BigInt(pet.line)];
  return [...petFields.map((field) => values[field]), 0n, ...change];
}
