import { hash } from 'node:crypto';
import { type Clock, dayMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { type Database, step, type Work } from '../storage/database.ts';
import { insertPetOnce, selectKeyedPet } from './keyed-add-rows.ts';
import { completeNewPet, type NewPet, type Pet } from './pet.ts';
import {
  insertedId,
  insertPet,
  selectIdempotencyRecord,
  selectPet,
  toPet,
  upsertIdempotencyRecord,
} from './pet-rows.ts';

/** How long an Idempotency-Key is remembered (contract section 2). */
export const idempotencyMs = dayMs;

/** What a client's retry is known by: the account, its key, and the SHA-256 of the body. */
export interface Idempotency {
  readonly accountId: bigint;
  readonly key: string;
  readonly bodyHash: Uint8Array;
}

/** An animal that was added, now or (`replayed`) by an earlier request with the same Idempotency-Key. */
export interface Added {
  readonly pet: Pet;
  readonly replayed: boolean;
}

/** Adds under an Idempotency-Key, as Catalogue.add promises. */
export type KeyedAdds = (newPet: NewPet, idempotency: Idempotency) => Promise<Added>;

/**
 * Adds to a store under Idempotency-Keys; of two requests with one key at once, the second fails with AppError
 * `idempotency_key_in_use`.
 */
export function createKeyedAdds(database: Database, clock: Clock): KeyedAdds {
  const running = new Set<string>();
  const addOnce = database.engine === 'postgres' ? addInOneStatement : addInTransaction;

  return async (newPet, idempotency) => {
    const name = nameOf(idempotency);
    if (running.has(name)) throw inUse();
    running.add(name);
    try {
      return await addOnce(database, newPet, idempotency, clock());
    } finally {
      running.delete(name);
    }
  };
}

async function addInTransaction(
  database: Database,
  newPet: NewPet,
  idempotency: Idempotency,
  nowMs: number,
): Promise<Added> {
  const added = await database.transact(() => findOrAdd(newPet, idempotency, nowMs));
  if (added === null) throw reused();
  return added;
}

/**
 * The same where each step of a transaction is a round trip, and works that run at once undo each other: one statement
 * adds under a new key, and a second finds what an old one stands for.
 */
async function addInOneStatement(
  database: Database,
  newPet: NewPet,
  idempotency: Idempotency,
  nowMs: number,
): Promise<Added> {
  const { accountId, key, bodyHash } = idempotency;
  const complete = completeNewPet(newPet);
  const outlivedMs = BigInt(nowMs - idempotencyMs);
  const times = { createdAtMs: BigInt(nowMs), outlivedMs };
  const lock = lockOf(idempotency);
  const [row] = await database.run(insertPetOnce, { lock, ...complete, accountId, key, bodyHash, ...times });
  if (row?.is_free !== true) throw inUse();
  if (row.id !== null) return { pet: { id: row.id, ...complete }, replayed: false };

  const [first] = await database.read(selectKeyedPet, { accountId, key, outlivedMs });
  // Only where an operator has taken the animal away, or the record, is there none.
  if (first === undefined) return addInTransaction(database, newPet, idempotency, nowMs);
  if (!isSame(first.body_hash, bodyHash)) throw reused();
  return { pet: toPet(first), replayed: true };
}

/** Gives null where the key stands for another body. */
function* findOrAdd(newPet: NewPet, idempotency: Idempotency, nowMs: number): Work<Added | null> {
  const { accountId, key, bodyHash } = idempotency;
  const [record] = yield* step(selectIdempotencyRecord, { accountId, key });
  if (record !== undefined && Number(record.created_at_ms) > nowMs - idempotencyMs) {
    if (!isSame(record.body_hash, bodyHash)) return null;
    const [row] = yield* step(selectPet, { id: record.pet_id });
    if (row !== undefined) return { pet: toPet(row), replayed: true };
  }
  const complete = completeNewPet(newPet);
  const petId = insertedId(yield* step(insertPet, complete));
  yield* step(upsertIdempotencyRecord, { accountId, key, bodyHash, petId, createdAtMs: BigInt(nowMs) });
  return { pet: { id: petId, ...complete }, replayed: false };
}

function nameOf({ accountId, key }: Idempotency): string {
  return `${accountId} ${key}`;
}

/** A number for a key, by which all instances know that it is in use. */
function lockOf(idempotency: Idempotency): bigint {
  return hash('sha256', nameOf(idempotency), 'buffer').readBigInt64BE();
}

function isSame(bodyHash: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(bodyHash, other) === 0;
}

function inUse(): AppError {
  return new AppError(
    'idempotency_key_in_use',
    'Idempotency-Key: the first request with this key is still running',
  );
}

function reused(): AppError {
  return new AppError(
    'idempotency_key_reused',
    'Idempotency-Key: this key was sent before with another body',
  );
}
