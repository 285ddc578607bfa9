import {
  attachResponse,
  readCallOptions,
  readIdempotencyKey,
  type WithResponse,
  writeQuery,
} from './call.ts';
import { argumentError } from './errors.ts';
import { stringifyExactJson } from './exact-json.ts';
import { type ListPetsQuery, type NewPet, operations, type Pet } from './generated.ts';
import { toInt64 } from './int64.ts';
import { createPage, type Page } from './page.ts';
import type { CallOptions, Transport } from './transport.ts';

/** An animal with what its answer told besides. `response` is not enumerable: neither copied nor written as JSON. */
export type PetAnswer = WithResponse<Pet>;

export interface ListOptions extends ListPetsQuery, CallOptions {}

export interface ListAllOptions extends CallOptions {
  readonly status?: ListPetsQuery['status'];
  /** How many animals are asked for at once, 1 to 100; 100 unless it is given. */
  readonly limit?: number | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Names this one addition for 24 hours, over restarts of your program too; made anew where it is left out or null. */
  readonly idempotencyKey?: string | null | undefined;
}

/** The animals of the store. All of it rejects with AnimalStoreError. */
export interface Pets {
  /** One page, the newest animals first; 20 unless `limit` is given. */
  list(options?: ListOptions): Promise<Page<Pet>>;
  /** All animals, page by page: each that was there at the start exactly once. */
  listAll(options?: ListAllOptions): AsyncGenerator<Pet, void, undefined>;
  /** Adds an animal, once, however often the request has to be sent. */
  create(newPet: NewPet, options?: CreateOptions): Promise<PetAnswer>;
  /** One animal. @deprecated The service removes this operation on 5 December 2030; use `list`. */
  get(petId: bigint | number, options?: CallOptions): Promise<PetAnswer>;
}

export function createPets(send: Transport): Pets {
  async function getPage(query: string, options: CallOptions): Promise<Page<Pet>> {
    const path = operations.listPets.path + query;
    const answer = await send({ operation: 'listPets', path, isExpected: isPetList }, options);
    return createPage(answer, operations.listPets.path, (next, own) =>
      getPage(next, { signal: own?.signal ?? options.signal }),
    );
  }

  const list: Pets['list'] = async (options) => {
    const { signal, limit, status, cursor } = readCallOptions(options);
    return getPage(writeQuery({ limit, status, cursor }), { signal });
  };

  return {
    list,

    async *listAll(options) {
      const { limit = 100, ...others } = readCallOptions(options);
      let page: Page<Pet> | null = await list({ limit, ...others });
      for (; page !== null; page = await page.next()) yield* page.items;
    },

    async create(newPet, options) {
      const { idempotencyKey, signal } = readCallOptions(options);
      const headers = { 'idempotency-key': readIdempotencyKey(idempotencyKey) };
      const { path } = operations.createPet;
      const call = {
        operation: 'createPet',
        path,
        headers,
        body: writePet(newPet),
        isExpected: isPet,
      } as const;
      return attachResponse(await send(call, { signal }));
    },

    async get(petId, options) {
      const { signal } = readCallOptions(options);
      const path = operations.getPet.path.replace('{petId}', String(toInt64('petId', petId)));
      return attachResponse(await send({ operation: 'getPet', path, isExpected: isPet }, { signal }));
    },
  };
}

function writePet(newPet: NewPet): string {
  if (typeof newPet !== 'object' || newPet === null)
    throw argumentError('newPet', 'must be an object with name and categoryId');
  const categoryId = toInt64('categoryId', newPet.categoryId);
  try {
    return stringifyExactJson({ ...newPet, categoryId });
  } catch {
    throw argumentError('newPet', 'must be what JSON can say: nothing in it may hold itself');
  }
}

function isPetList(value: unknown): value is readonly Pet[] {
  return Array.isArray(value) && value.every(isPet);
}

function isPet(value: unknown): value is Pet {
  if (typeof value !== 'object' || value === null) return false;
  const { id, name, categoryId, status } = value as Record<string, unknown>;
  if (typeof id !== 'bigint' || typeof name !== 'string' || typeof categoryId !== 'bigint') return false;
  return status === undefined || typeof status === 'string';
}
