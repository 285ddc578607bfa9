import {
  attachResponse,
  isDeleted,
  readCallOptions,
  readIdempotencyKey,
  type WithResponse,
  writeBody,
} from './call.ts';
import { argumentError } from './errors.ts';
import { stringifyExactJson } from './exact-json.ts';
import { type ListPetsQuery, type NewPet, operations, type Pet, type PetPatch } from './generated.ts';
import { toInt64 } from './int64.ts';
import { createLists, type Page } from './page.ts';
import type { CallOptions, Transport } from './transport.ts';

export type PetAnswer = WithResponse<Pet>;

export interface ListOptions extends ListPetsQuery, CallOptions {}

export interface ListAllOptions extends CallOptions {
  readonly status?: ListPetsQuery['status'];
  readonly categoryId?: ListPetsQuery['categoryId'];
  readonly id?: ListPetsQuery['id'];
  /** Number of animals per request, 1 to 100. Default: 100. */
  readonly limit?: number | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * Identifies the request for 24 hours. If your program repeats the request with the same key, the service returns the
   * first response and does nothing else. By default, the client creates a key for each call.
   */
  readonly idempotencyKey?: string | null | undefined;
}

export interface ChangeOptions extends CallOptions {
  /**
   * The `ETag` of the animal when you read it. If the animal has changed since, the call fails with
   * `precondition_failed`.
   */
  readonly ifMatch?: string | null | undefined;
}

/** The animals of the store. A method that fails rejects with AnimalStoreError. */
export interface Pets {
  /** Returns one page, newest animals first. The default `limit` is 20. */
  list(options?: ListOptions): Promise<Page<Pet>>;
  /** Yields all animals, page by page. Every animal that existed at the start is yielded exactly once. */
  listAll(options?: ListAllOptions): AsyncGenerator<Pet, void, undefined>;
  /** Adds an animal. Retries have the same idempotency key, so they add only one animal. */
  create(newPet: NewPet, options?: CreateOptions): Promise<PetAnswer>;
  /** Returns one animal. @deprecated The service removes this operation on 5 December 2030; use `list`. */
  get(petId: bigint | number, options?: CallOptions): Promise<PetAnswer>;
  /** Changes the fields in `patch` and returns the changed animal. Needs `pets:manage`. */
  update(petId: bigint | number, patch: PetPatch, options?: ChangeOptions): Promise<PetAnswer>;
  /** Deletes an animal. Needs `pets:manage`. */
  delete(petId: bigint | number, options?: ChangeOptions): Promise<void>;
}

export function createPets(send: Transport): Pets {
  return {
    ...createLists<Pet, ListOptions>(send, 'listPets', { isItem: isPet, readFilters }),

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
      const path = pathOf('getPet', petId);
      return attachResponse(await send({ operation: 'getPet', path, isExpected: isPet }, { signal }));
    },

    async update(petId, patch, options) {
      const { ifMatch, signal } = readCallOptions(options);
      const path = pathOf('updatePet', petId);
      const body = writePatch(patch);
      const headers = writeIfMatch(ifMatch);
      const call = { operation: 'updatePet', path, headers, body, isExpected: isPet } as const;
      return attachResponse(await send(call, { signal }));
    },

    async delete(petId, options) {
      const { ifMatch, signal } = readCallOptions(options);
      const path = pathOf('deletePet', petId);
      const headers = writeIfMatch(ifMatch);
      await send({ operation: 'deletePet', path, headers, isExpected: isDeleted }, { signal });
    },
  };
}

function pathOf(operation: 'getPet' | 'updatePet' | 'deletePet', petId: bigint | number): string {
  return operations[operation].path.replace('{petId}', String(toInt64('petId', petId)));
}

function readFilters({ status, categoryId, id }: ListOptions) {
  const category = categoryId === undefined ? undefined : toInt64('categoryId', categoryId);
  return { status, categoryId: category, id: writeIds(id) };
}

function writeIds(ids: unknown): string | undefined {
  if (ids === undefined) return undefined;
  if (!Array.isArray(ids)) throw argumentError('id', 'must be an array of identifiers');
  return ids.map((id) => toInt64('id', id)).join();
}

function writeIfMatch(tag: string | null | undefined): Record<string, string> {
  if (tag === undefined || tag === null) return {};
  if (typeof tag === 'string' && /^[ -~]+$/.test(tag)) return { 'if-match': tag };
  throw argumentError('ifMatch', 'must be an ETag that the service returned');
}

function writePatch(patch: PetPatch): string {
  if (typeof patch !== 'object' || patch === null || patch.categoryId === undefined)
    return writeBody('patch', patch);
  return writeBody('patch', { ...patch, categoryId: toInt64('categoryId', patch.categoryId) });
}

function writePet(newPet: NewPet): string {
  if (typeof newPet !== 'object' || newPet === null)
    throw argumentError('newPet', 'must be an object with name and categoryId');
  const categoryId = toInt64('categoryId', newPet.categoryId);
  try {
    return stringifyExactJson({ ...newPet, categoryId });
  } catch {
    throw argumentError('newPet', 'must be serializable as JSON, without circular references');
  }
}

function isPet(value: unknown): value is Pet {
  if (typeof value !== 'object' || value === null) return false;
  const { id, name, categoryId, status } = value as Record<string, unknown>;
  if (typeof id !== 'bigint' || typeof name !== 'string' || typeof categoryId !== 'bigint') return false;
  return status === undefined || typeof status === 'string';
}
