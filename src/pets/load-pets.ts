import { OperatorError } from '../errors.ts';
import type { Database, Value } from '../storage/database.ts';
import { type AuditedImport, appendImport, changeLoadedPets, type OnBadChange } from './load-rows.ts';
import { completeNewPet, type NewPet, type PetPatch } from './pet.ts';

/** A new animal or, with an id, a change of an existing one. */
export type LoadedPet =
  | (NewPet & { readonly id?: undefined })
  | (PetPatch & { readonly id: bigint; readonly line: number });

/** Options for loading animals. */
export interface LoadPetsOptions {
  /** Called when all input is read and writing begins. */
  readonly onWrite?: () => void;
  /** Called for each change that cannot be made. Without it, no row may have an id. */
  readonly onBadChange?: OnBadChange;
  /** Called after all bad changes are reported. If it throws, nothing changes. */
  readonly check?: () => void;
  /** Writes the load into the audit log in the same commit, if `onBadChange` is given. */
  readonly audited?: AuditedImport;
  /** Rolls everything back at the end. */
  readonly isDryRun?: boolean;
}

/** How many animals were added and changed, or would be. */
export interface LoadedCounts {
  readonly added: number;
  readonly changed: number;
}

const columns = ['name', 'category_id', 'status', 'is_owned'];

/**
 * Adds and changes animals, all or none. It reads the whole source before it writes. A change is reported and skipped
 * if it names no animal, or another status for an animal that an order owns. Fails as `load` does (database.ts).
 */
export async function loadPets(
  database: Database,
  batches: AsyncIterable<readonly LoadedPet[]>,
  { onWrite, onBadChange, check = () => undefined, audited, isDryRun = false }: LoadPetsOptions = {},
): Promise<LoadedCounts> {
  if (onBadChange === undefined)
    return {
      added: await database.load('pets', columns, toRows(batches, toNewRow), { onWrite }),
      changed: 0,
    };
  let changed = 0;
  function* apply() {
    changed = yield* changeLoadedPets(onBadChange as OnBadChange, check);
    if (audited !== undefined) yield* appendImport(audited, changed);
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
