import { argumentError } from './errors.ts';
import type { ListPetsQuery, NewPet, Pet, PetPatch } from './generated.ts';
import type { CallOperation, ChangeOptions, CreateOptions, WithResponse } from './operation-call.ts';
import { createLists, type Page } from './page.ts';
import type { CallOptions, Transport } from './transport.ts';

export type PetAnswer = WithResponse<Pet>;

export interface ListOptions extends ListPetsQuery, CallOptions {}

/** `limit` is the number of animals per request, 1 to 100. Default: 100. */
export interface ListAllOptions extends Omit<ListOptions, 'cursor'> {}

/** The animals of the store. A method that fails rejects with AnimalStoreError. */
export interface Pets {
  /** Returns one page, newest animals first. The default `limit` is 20. */
  list(options?: ListOptions): Promise<Page<Pet>>;
  /** Yields all animals, page by page. Every animal that existed at the start is yielded exactly once. */
  listAll(options?: ListAllOptions): AsyncGenerator<Pet, void, undefined>;
  /** Returns the animals with these ids, newest first. Leaves out ids that no animal has. One request per 100 ids. */
  find(petIds: readonly (bigint | number)[], options?: CallOptions): Promise<readonly Pet[]>;
  /** Adds an animal. Retries have the same idempotency key, so they add only one animal. */
  create(newPet: NewPet, options?: CreateOptions): Promise<PetAnswer>;
  /** Returns one animal. @deprecated The service removes this operation on 5 December 2030; use `find`. */
  get(petId: bigint | number, options?: CallOptions): Promise<PetAnswer>;
  /** Changes the fields in `petPatch` and returns the changed animal. Needs `pets:manage`. */
  update(petId: bigint | number, petPatch: PetPatch, options?: ChangeOptions): Promise<PetAnswer>;
  /** Deletes an animal. Needs `pets:manage`. */
  delete(petId: bigint | number, options?: ChangeOptions): Promise<void>;
}

/** The most ids that one request may name. */
const idsMax = 100;

export function createPets(call: CallOperation, send: Transport): Pets {
  const { list, listAll } = createLists<'listPets', ListOptions>(send, 'listPets');

  return {
    list,
    listAll,
    create: (newPet, options) => call('createPet', { body: newPet }, options),
    get: (petId, options) => call('getPet', { id: petId }, options),
    update: (petId, petPatch, options) => call('updatePet', { id: petId, body: petPatch }, options),
    delete: (petId, options) => call('deletePet', { id: petId }, options),

    async find(petIds, options) {
      if (!Array.isArray(petIds)) throw argumentError('petIds', 'must be an array of identifiers');
      const found: Pet[] = [];
      for (let start = 0; start < petIds.length; start += idsMax) {
        const id = petIds.slice(start, start + idsMax);
        found.push(...(await list({ ...options, id, limit: idsMax })).items);
      }
      return found.sort((one, other) => (one.id < other.id ? 1 : -1));
    },
  };
}
