import { argumentError } from './errors.ts';
import { stringifyExactJson } from './exact-json.ts';
import { type ListPetsQuery, type NewPet, operations, type Pet } from './generated.ts';
import { toInt64 } from './int64.ts';
import { createPage, type PetPage } from './page.ts';
import type { ResponseInfo } from './response-info.ts';
import type { CallOptions, Transport } from './transport.ts';

/** An animal with what its answer told besides. `response` is not enumerable, so it is neither printed nor copied. */
export type PetAnswer = Pet & { readonly response: ResponseInfo };

export interface ListOptions extends ListPetsQuery, CallOptions {}

export interface ListAllOptions extends CallOptions {
  readonly status?: ListPetsQuery['status'];
  /** How many animals are asked for at once, 1 to 100; 100 unless it is given. */
  readonly limit?: number | undefined;
}

export interface CreateOptions extends CallOptions {
  /** Names this one addition for 24 hours, over restarts of your program too; made anew unless it is given. */
  readonly idempotencyKey?: string | undefined;
}

/** The animals of the store. All of it rejects with AnimalStoreError. */
export interface Pets {
  /** One page, the newest animals first; 20 unless `limit` is given. */
  list(options?: ListOptions): Promise<PetPage>;
  /** All animals, page by page: each that was there at the start exactly once. */
  listAll(options?: ListAllOptions): AsyncGenerator<Pet, void, undefined>;
  /** Adds an animal, once, however often the request has to be sent. */
  create(newPet: NewPet, options?: CreateOptions): Promise<PetAnswer>;
  /** One animal. @deprecated The service removes this operation on 5 December 2030; use `list`. */
  get(petId: bigint | number, options?: CallOptions): Promise<PetAnswer>;
}

export function createPets(send: Transport): Pets {
  async function getPage(query: string, options: CallOptions): Promise<PetPage> {
    const path = operations.listPets.path + query;
    const answer = await send({ operation: 'listPets', path, isExpected: isPetList }, options);
    return createPage(answer, (next, own) => getPage(next, { signal: own?.signal ?? options.signal }));
  }

  const list: Pets['list'] = ({ signal, ...query } = {}) => getPage(writeQuery(query), { signal });

  return {
    list,

    async *listAll({ limit = 100, ...options } = {}) {
      let page: PetPage | null = await list({ limit, ...options });
      for (; page !== null; page = await page.next()) yield* page.items;
    },

    async create(newPet, { idempotencyKey = createIdempotencyKey(), signal } = {}) {
      if (typeof newPet !== 'object' || newPet === null)
        throw argumentError('newPet', 'must be an object with name and categoryId');
      if (!/^[!-~]{1,255}$/.test(idempotencyKey))
        throw argumentError('idempotencyKey', 'must have 1 to 255 visible ASCII characters');
      const { path } = operations.createPet;
      const body = stringifyExactJson({ ...newPet, categoryId: toInt64('categoryId', newPet.categoryId) });
      const headers = { 'idempotency-key': idempotencyKey };
      const call = { operation: 'createPet', path, headers, body, isExpected: isPet } as const;
      return attachResponse(await send(call, { signal }));
    },

    async get(petId, { signal } = {}) {
      const path = operations.getPet.path.replace('{petId}', String(toInt64('petId', petId)));
      return attachResponse(await send({ operation: 'getPet', path, isExpected: isPet }, { signal }));
    },
  };
}

function writeQuery({ limit, status, cursor }: ListPetsQuery): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ limit, status, cursor }))
    if (value !== undefined) query.set(name, String(value));
  const text = String(query);
  return text === '' ? '' : `?${text}`;
}

/** 128 random bits. `crypto.randomUUID` is not there on pages that came over plain HTTP. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function attachResponse({ value, response }: { value: Pet; response: ResponseInfo }): PetAnswer {
  return Object.defineProperty(value, 'response', { value: response }) as PetAnswer;
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
