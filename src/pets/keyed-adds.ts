import { hash } from 'node:crypto';
import { type Clock, dayMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { type Database, defineWork, step, type Work } from '../storage/database.ts';
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
 * Adds to a store under Idempotency-Keys. While the first request with a key is running, another fails with AppError
 * `idempotency_key_in_use`; once it has ended, any number at once are answered with what it added.
 */
export function createKeyedAdds(database: Database, clock: Clock): KeyedAdds {
  const running = new Set<string>();
  const addOnce = database.engine === 'postgres' ? addInOneStatement : addInTransaction;

  return async (newPet, idempotency) => {
    const name = nameOf(idempotency);
    const nowMs = clock();
    // What runs may itself be a retry of one that has ended.
    if (running.has(name)) return replay(database, idempotency, nowMs);
    running.add(name);
    try {
      return await addOnce(database, newPet, idempotency, nowMs);
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
  const added = await database.transact(findOrAddPet, { newPet, idempotency, nowMs });
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
  const times = { createdAtMs: BigInt(nowMs), outlivedMs: BigInt(nowMs - idempotencyMs) };
  const lock = lockOf(idempotency);
  const [row] = await database.run(insertPetOnce, { lock, ...complete, accountId, key, bodyHash, ...times });
  if (row?.is_free !== true) return replay(database, idempotency, nowMs);
  if (row.id !== null) return { pet: { id: row.id, ...complete }, replayed: false };
  // There is none where the record has been swept since, or its animal was taken away by an operator.
  return (
    (await findFirst(database, idempotency, nowMs)) ?? addInTransaction(database, newPet, idempotency, nowMs)
  );
}

/** Answers while another with the key runs: with what the first has added, if that has ended. */
async function replay(database: Database, idempotency: Idempotency, nowMs: number): Promise<Added> {
  const first = await findFirst(database, idempotency, nowMs);
  if (first === null) throw inUse();
  return first;
}

/** What a key stands for; null where nothing is kept of it. */
async function findFirst(
  database: Database,
  { accountId, key, bodyHash }: Idempotency,
  nowMs: number,
): Promise<Added | null> {
  const outlivedMs = BigInt(nowMs - idempotencyMs);
  const [first] = await database.read(selectKeyedPet, { accountId, key, outlivedMs });
  if (first === undefined) return null;
  if (!isSame(first.body_hash, bodyHash)) throw reused();
  return { pet: toPet(first), replayed: true };
}

interface KeyedAdd {
  readonly newPet: NewPet;
  readonly idempotency: Idempotency;
  readonly nowMs: number;
}

/** Adds an animal under a key, or finds the one that was added; gives null if the key stands for another body. */
export const findOrAddPet = defineWork(
  import.meta.url,
  'findOrAddPet',
  function* ({ newPet, idempotency, nowMs }: KeyedAdd): Work<Added | null> {
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
  },
);

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
