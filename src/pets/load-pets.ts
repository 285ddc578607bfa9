import { OperatorError } from '../errors.ts';
import type { Database, Value } from '../storage/database.ts';
import { type AuditedImport, appendImport, changeLoadedPets, type OnBadChange } from './load-rows.ts';
import { completeNewPet, type NewPet, type PetPatch } from './pet.ts';

/** A new animal, or a change of the animal `id`. `line` is the line of the change in the import file. */
export type LoadedPet =
  | (NewPet & { readonly id?: undefined })
  | (PetPatch & { readonly id: bigint; readonly line: number });

/** Options of `loadPets`. Without `onBadChange`, the options `check`, `audited` and `isDryRun` are ignored. */
export interface LoadPetsOptions {
  /** Called after all input is read, before the first write. */
  readonly onWrite?: () => void;
  /** Called for each change that is skipped. Without this callback, a row with an id throws OperatorError. */
  readonly onBadChange?: OnBadChange;
  /** Called after the last `onBadChange`. If `check` throws, nothing is stored. */
  readonly check?: () => void;
  /** Adds a row to the audit log in the same transaction. */
  readonly audited?: AuditedImport;
  /** Rolls back all changes at the end. */
  readonly isDryRun?: boolean;
}

/** Numbers of added and changed animals. After a dry run, the numbers that a real run would have. */
export interface LoadedCounts {
  readonly added: number;
  readonly changed: number;
}

const columns = ['name', 'category_id', 'status', 'is_owned'];

/**
 * Adds and changes animals, all or none. Reads all of `batches` before the first write. Throws the errors of
 * `Database.load`.
 *
 * A change is reported to `onBadChange` and skipped in these cases:
 * - No animal has the id.
 * - An earlier row changes the same animal.
 * - An order owns the animal, and the change sets another status. An overdue hold is closed first, so it owns nothing.
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
