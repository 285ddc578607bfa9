import type { Clock } from '../clock.ts';
import { int64Max } from '../int64.ts';
import { after, type Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import { type Added, createKeyedAdds, type Idempotency, idempotencyMs } from './keyed-adds.ts';
import { completeNewPet, type NewPet, type Pet, type PetStatus } from './pet.ts';
import {
  deleteOldIdempotencyRecords,
  insertedId,
  insertPet,
  selectNewest,
  selectNewestOf,
  selectOldest,
  selectPet,
  toPet,
} from './pet-rows.ts';
import { createStamps, type Stamps } from './stamps.ts';

export type { Added, Idempotency } from './keyed-adds.ts';

const exportBatchRows = 1_000n;
const sweepRowsMax = 1_000n;

/** Which page of the animals is asked for. */
export interface ListQuery {
  /** The most animals that a page holds, 1 to 100. */
  readonly limit: number;
  /** Only animals of this status; null lists all. */
  readonly status: PetStatus | null;
  /** Only animals whose id is at most this; null begins with the newest. */
  readonly newestId: bigint | null;
}

/** A page of animals, and where the next one begins. */
export interface Page {
  /** Newest first. */
  readonly pets: readonly Pet[];
  /** Where the next page begins; null on the last page. */
  readonly nextNewestId: bigint | null;
}

/**
 * The animals of a store: what is asked of them and what adds to them. Reads are done within the call where the engine lives in
 * this process. Fails as the database does (database.ts).
 */
export interface Catalogue {
  /** A page of animals, newest first (contract section 3). Costs the same at any depth. */
  list(query: ListQuery): Soon<Page>;
  /** The animal, or null if there is none of that id. */
  get(id: bigint): Soon<Pet | null>;
  /** What the store holds, in two numbers, by which answers may be cached. */
  readonly stamps: Stamps;
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

/** The catalogue of a store. */
export function createCatalogue(database: Database, clock: Clock): Catalogue {
  const addOnce = createKeyedAdds(database, clock);
  const stamps = createStamps(database);

  function showAdded(added: Added): Added {
    stamps.forget();
    return added;
  }

  return {
    stamps,

    list({ limit, status, newestId }) {
      const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
      return after(database.read(status === null ? selectNewest : selectNewestOf[status], range), (rows) => {
        const pets = rows.slice(0, limit).map(toPet);
        return { pets, nextNewestId: rows[limit]?.id ?? null };
      });
    },

    get: (id) => after(database.read(selectPet, { id }), ([row]) => (row === undefined ? null : toPet(row))),

    // Without `await`, which costs a further turn of the microtasks.
    add(newPet, idempotency) {
      if (idempotency !== null) return addOnce(newPet, idempotency).then(showAdded);
      const complete = completeNewPet(newPet);
      const { name, categoryId, status } = complete;
      return database
        .run(insertPet, complete)
        .then((rows) =>
          showAdded({ pet: { id: insertedId(rows), name, categoryId, status }, replayed: false }),
        );
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

async function* toRows(batches: AsyncIterable<readonly NewPet[]>) {
  for await (const batch of batches)
    yield batch.map((newPet) => {
      const { name, categoryId, status } = completeNewPet(newPet);
      return [name, categoryId, status];
    });
}
