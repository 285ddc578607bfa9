import { type Clock, dayMs } from '../clock.ts';
import { AppError } from '../errors.ts';
import { int64Max } from '../int64.ts';
import { type Database, step, type Work } from '../storage/database.ts';
import { completeNewPet, type NewPet, type Pet, type PetStatus } from './pet.ts';
import {
  deleteOldIdempotencyRecords,
  insertPet,
  selectIdempotencyRecord,
  selectNewest,
  selectNewestOfStatus,
  selectOldest,
  selectPet,
  selectStamp,
  upsertIdempotencyRecord,
} from './pet-rows.ts';

/** How long an Idempotency-Key is remembered (contract section 2). */
export const idempotencyMs = dayMs;

const exportBatchRows = 1_000n;
const sweepRowsMax = 1_000n;

export interface ListQuery {
  /** The most animals that a page holds, 1 to 100. */
  readonly limit: number;
  /** Only animals of this status; null lists all. */
  readonly status: PetStatus | null;
  /** Only animals whose id is at most this; null begins with the newest. */
  readonly newestId: bigint | null;
}

export interface Page {
  /** Newest first. */
  readonly pets: readonly Pet[];
  /** Where the next page begins; null on the last page. */
  readonly nextNewestId: bigint | null;
}

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

/**
 * While both numbers stay the same, so does every answer about animals. While `edits` does, so does each page that
 * begins at a given id, and each animal: ids grow, so a new animal stands before them all.
 */
export interface Stamp {
  readonly newestId: bigint;
  readonly edits: bigint;
}

export interface Catalogue {
  /** A page of animals, newest first (contract section 3). Costs the same at any depth. */
  list(query: ListQuery): Promise<Page>;
  /** The animal, or null if there is none of that id. */
  get(id: bigint): Promise<Pet | null>;
  /**
   * What the store holds at this turn of the event loop, all that was committed before it included, in two numbers.
   * Null where that cannot be told within the call (PostgreSQL): then nothing may be kept ready.
   */
  stamp(): Stamp | null;
  /**
   * Adds an animal and gives it with its id once it is on disk. Under an Idempotency-Key it is added once, however
   * often it is sent: throws `idempotency_key_reused` for another body, `idempotency_key_in_use` while the first
   * request is still running.
   */
  add(newPet: NewPet, idempotency: Idempotency | null): Promise<Added>;
  /** Adds many, all or none, in their order; gives their number. */
  load(batches: AsyncIterable<readonly NewPet[]>, onWrite?: () => void): Promise<number>;
  /** Every animal in batches, oldest first. */
  listAll(): AsyncGenerator<readonly Pet[]>;
  /** Forgets the idempotency records that have outlived their day, a bounded number in each transaction. */
  sweep(): Promise<void>;
}

interface PetRow {
  readonly id: bigint;
  readonly name: string;
  readonly category_id: bigint;
  readonly status: string;
}

export function createCatalogue(database: Database, clock: Clock): Catalogue {
  const running = new Set<string>();

  async function addOnce(newPet: NewPet, idempotency: Idempotency): Promise<Added> {
    const name = `${idempotency.accountId} ${idempotency.key}`;
    if (running.has(name))
      throw new AppError(
        'idempotency_key_in_use',
        'Idempotency-Key: the first request with this key is still running',
      );
    running.add(name);
    try {
      const nowMs = clock();
      const added = await database.transact(() => addIdempotently(newPet, idempotency, nowMs));
      if (added === null)
        throw new AppError(
          'idempotency_key_reused',
          'Idempotency-Key: this key was sent before with another body',
        );
      return added;
    } finally {
      running.delete(name);
    }
  }

  let stamp: Stamp | null = null;

  /** Read once a turn: what another process commits comes to be known when the next requests do. */
  function readStamp(): Stamp | null {
    if (stamp !== null || database.readNow === null) return stamp;
    const [row] = database.readNow(selectStamp, {});
    if (row === undefined) return null;
    stamp = { newestId: row.newest_id ?? 0n, edits: row.edits };
    setImmediate(() => {
      stamp = null;
    });
    return stamp;
  }

  return {
    stamp: readStamp,

    async list({ limit, status, newestId }) {
      const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
      const rows =
        status === null
          ? await database.read(selectNewest, range)
          : await database.read(selectNewestOfStatus, { ...range, status });
      const pets = rows.slice(0, limit).map(toPet);
      return { pets, nextNewestId: rows[limit]?.id ?? null };
    },

    async get(id) {
      const [row] = await database.read(selectPet, { id });
      return row === undefined ? null : toPet(row);
    },

    async add(newPet, idempotency) {
      if (idempotency !== null) return addOnce(newPet, idempotency);
      const complete = completeNewPet(newPet);
      const rows = await database.run(insertPet, complete);
      return { pet: { id: insertedId(rows), ...complete }, replayed: false };
    },

    load(batches, onWrite) {
      return database.load('pets', ['name', 'category_id', 'status'], toRows(batches), onWrite);
    },

    async *listAll() {
      let afterId = 0n;
      for (;;) {
        const rows = await database.read(selectOldest, { afterId, count: exportBatchRows });
        if (rows.length === 0) return;
        yield rows.map(toPet);
        afterId = rows.at(-1)?.id ?? afterId;
      }
    },

    async sweep() {
      const old = { beforeMs: BigInt(clock() - idempotencyMs), count: sweepRowsMax };
      let deleted: readonly unknown[];
      do deleted = await database.run(deleteOldIdempotencyRecords, old);
      while (deleted.length >= sweepRowsMax);
    },
  };
}

/** Gives null where the key stands for another body. */
function* addIdempotently(newPet: NewPet, idempotency: Idempotency, nowMs: number): Work<Added | null> {
  const { accountId, key, bodyHash } = idempotency;
  const [record] = yield* step(selectIdempotencyRecord, { accountId, key });
  if (record !== undefined && Number(record.created_at_ms) > nowMs - idempotencyMs) {
    if (Buffer.compare(record.body_hash, bodyHash) !== 0) return null;
    const [row] = yield* step(selectPet, { id: record.pet_id });
    if (row !== undefined) return { pet: toPet(row), replayed: true };
  }
  const complete = completeNewPet(newPet);
  const petId = insertedId(yield* step(insertPet, complete));
  yield* step(upsertIdempotencyRecord, { accountId, key, bodyHash, petId, createdAtMs: BigInt(nowMs) });
  return { pet: { id: petId, ...complete }, replayed: false };
}

function insertedId(rows: readonly { id: bigint }[]): bigint {
  const [row] = rows;
  if (row === undefined) throw new Error('the store gave no id for a new animal');
  return row.id;
}

function toPet({ id, name, category_id, status }: PetRow): Pet {
  return { id, name, categoryId: category_id, status: status as PetStatus };
}

async function* toRows(batches: AsyncIterable<readonly NewPet[]>) {
  for await (const batch of batches)
    yield batch.map((newPet) => {
      const { name, categoryId, status } = completeNewPet(newPet);
      return [name, categoryId, status];
    });
}
