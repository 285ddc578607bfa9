import { secondMs } from '../src/clock.ts';
import { computeEtag } from '../src/etag.ts';
import { parseExactJson } from '../src/exact-json.ts';
import { closeOrder } from '../src/orders/close-order.ts';
import { holdSeconds } from '../src/orders/order.ts';
import { type Placing, placeOrder } from '../src/orders/place-order.ts';
import { editPet } from '../src/pets/catalogue.ts';
import type { NewPet, PetPatch } from '../src/pets/pet.ts';
import { addPet } from '../src/pets/pet-rows.ts';
import { completeNewPet, writePet } from '../src/pets/pet-values.ts';
import type { Steps } from '../src/storage/database.ts';
import { isAvailable, makeAnimal } from './animals.ts';
import type { Request } from './exchange.ts';
import { ratioMax } from './goals.ts';
import { manyIdsMax, randomIds, shuffle } from './ids.ts';
import type { Scenario } from './scenarios.ts';

export const newAnimal = '{"name":"Rex","categoryId":1,"status":"available"}';
export const creation: Request = { method: 'POST', path: '/v1/pets', body: newAnimal };
export const categories = 50;
/** Enough for the warm-up and the rounds of a run. */
const ordersMax = 100_000;

const common = { connections: 64, status: 200, peerOperation: null, ratioMax: null } as const;

export const creates = { ...common, requests: () => [creation], status: 201 } as const;

/** The scenarios that write. */
export const writes: readonly Scenario[] = [
  {
    ...creates,
    name: 'create',
    title: 'create',
    peerOperation: 'create',
    ratioMax: ratioMax.create,
    toSteps: ({ body }) => addPet(completeNewPet(parseExactJson(body ?? '') as NewPet)),
  },
  {
    ...creates,
    name: 'create-keyed',
    title: 'create with an Idempotency-Key',
    isKeyed: true,
    ratioMax: ratioMax.keyedCreate,
  },
  {
    ...creates,
    name: 'create-categories',
    title: `create in ${categories} categories in turn`,
    requests: () => listCategories().map((id) => addTo(id)),
  },
  {
    ...common,
    name: 'patch',
    title: 'PATCH of the name, a different animal each time',
    requests: ({ animals }) => listRenames(randomIds(animals, manyIdsMax)),
    toSteps: toEdit,
  },
  {
    ...common,
    name: 'patch-if-match',
    title: 'the same with If-Match',
    requests: ({ animals }) => addIfMatch(listRenames(randomIds(animals, manyIdsMax))),
    toSteps: toEdit,
  },
  {
    ...common,
    name: 'order',
    title: 'order, a different animal each time',
    status: 201,
    requests: ({ animals }) =>
      listAvailable(animals).map((id) => ({ method: 'POST', path: '/v1/orders', body: `{"petId":${id}}` })),
    toSteps: ({ body }, keyId) => placeOrder.body(toPlacing(BigInt(JSON.parse(body ?? '').petId), keyId)),
  },
  ...(['complete', 'cancel'] as const).map(
    (action): Scenario => ({
      ...common,
      name: action,
      title: `${action} a different order each time`,
      hasOrders: true,
      requests: ({ animals }) =>
        shuffle([...listOrdered(animals).keys()]).map((index) => ({
          method: 'POST',
          path: `/v1/orders/${index + 1}/${action}`,
        })),
      toSteps: ({ path }, keyId) =>
        closeOrder.body({ action, id: readId(path), accountId: null, key: toActing(keyId) }),
    }),
  ),
];

function toEdit({ path, body = '', ifMatch }: Request): Steps<unknown> {
  const tags = ifMatch === undefined ? null : [ifMatch];
  return editPet.body({ id: readId(path), patch: parseExactJson(body) as PetPatch, tags });
}

function readId(path: string): bigint {
  return BigInt(path.split('/')[3] ?? '');
}

/** The key of the benchmark, which never ends. */
const toActing = (keyId: string) => ({ accountId: 1n, keyId, nowMs: 0 });

/** The order of an animal, as the key of the benchmark places it. */
export function toPlacing(petId: bigint, keyId: string): Placing {
  const holdMs = holdSeconds.managedMax * secondMs;
  return { petId, holdMs, reference: null, ...toActing(keyId), isManager: true, idempotency: null };
}

export function listCategories(): number[] {
  return Array.from({ length: categories }, (_, index) => index + 1);
}

function addTo(categoryId: number): Request {
  return { ...creation, body: `{"name":"Rex","categoryId":${categoryId},"status":"available"}` };
}

/** Returns two renames for each animal, to different names, so that every request changes something. */
export function listRenames(ids: readonly number[]): Request[] {
  return ['Rex', 'Max'].flatMap((name) =>
    ids.map((id): Request => ({ method: 'PATCH', path: toPetPath(id), body: `{"name":"${name}"}` })),
  );
}

/** Adds the ETag that each animal has before its change. `renames` goes through the same animals twice. */
function addIfMatch(renames: readonly Request[]): Request[] {
  return renames.map((request, index) => {
    const id = readId(request.path);
    const isRenamed = index >= renames.length / 2;
    const { name, categoryId, status } = makeAnimal(Number(id));
    const pet = { id, name: isRenamed ? 'Rex' : name, categoryId: BigInt(categoryId), status };
    return { ...request, ifMatch: computeEtag(writePet(pet)) };
  });
}

/** The animals that can be ordered in a new store, in random order. Each can be ordered only once. */
function listAvailable(animals: number): number[] {
  return randomIds(animals, manyIdsMax).filter((id) => isAvailable(id));
}

/** The animals of the orders 1, 2, 3 and so on, in a store with orders. */
export function listOrdered(animals: number): number[] {
  return listAvailable(animals).slice(0, ordersMax);
}

export function toPetPath(id: number): string {
  return `/v1/pets/${id}`;
}
