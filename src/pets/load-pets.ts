import { OperatorError } from '../errors.ts';
import type { Database, Value } from '../storage/database.ts';
import { changeLoadedPets, type OnBadChange } from './load-rows.ts';
import { completeNewPet, type NewPet, type PetPatch } from './pet.ts';

/** An animal to be added or, with an id, the change of one that is there. */
export type LoadedPet =
  | (NewPet & { readonly id?: undefined })
  | (PetPatch & { readonly id: bigint; readonly line: number });

/** How animals are loaded. */
export interface LoadPetsOptions {
  /** Is told when the reading has ended and the writing begins. */
  readonly onWrite?: () => void;
  /** Is told of each change that cannot be made. Without it no row may have an id. */
  readonly onBadChange?: OnBadChange;
  /** Called once all bad changes were told; what it throws leaves everything as it was. */
  readonly check?: () => void;
  /** Undoes everything in the end. */
  readonly isDryRun?: boolean;
}

/** How many animals were added and changed, or would have been. */
export interface LoadedCounts {
  readonly added: number;
  readonly changed: number;
}

const columns = ['name', 'category_id', 'status', 'is_owned'];

/**
 * Adds and changes animals, all or none. The source is read to its end before the catalogue is touched. A change that names
 * no animal, or another status of one that an order owns, is told and left out. Fails as `load` does (database.ts).
 */
export async function loadPets(
  database: Database,
  batches: AsyncIterable<readonly LoadedPet[]>,
  { onWrite, onBadChange, check = () => undefined, isDryRun = false }: LoadPetsOptions = {},
): Promise<LoadedCounts> {
  if (onBadChange === undefined)
    return {
      added: await database.load('pets', columns, toRows(batches, toNewRow), { onWrite }),
      changed: 0,
    };
  let changed = 0;
  function* apply() {
    changed = yield* changeLoadedPets(onBadChange as OnBadChange, check);
  }
  const changes = { apply, isDryRun };
  const rows = toRows(batches, toNewOrChangedRow);
  return { added: await database.load('pets', columns, rows, { onWrite, changes }), changed };
}

async function* toRows(
  batches: AsyncIterable<readonly LoadedPet[]>,
  toRow: (pet: LoadedPet) => readonly Value[],
) {
  for await (const pets of batches) yield pets.map(toRow);
}

function toNewRow(pet: LoadedPet): readonly Value[] {
  if (pet.id !== undefined) throw new OperatorError('a row with an id cannot be added');
  const { name, categoryId, status } = completeNewPet(pet);
  return [name, categoryId, status, 0n];
}

function toNewOrChangedRow(pet: LoadedPet): readonly Value[] {
  if (pet.id === undefined) return [...toNewRow(pet), null, null];
  const { name = null, categoryId = null, status = null } = pet;
  return [name, categoryId, status, 0n, pet.id, BigInt(pet.line)];
}
