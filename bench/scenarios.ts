import type { Request } from './exchange.ts';

/** What the requests of the service are made from. */
export interface Walk {
  /** Addresses of different pages, as `Link` gave them. */
  readonly pages: readonly string[];
  readonly animals: number;
}

export type Operation = 'list' | 'get' | 'create';

export interface Scenario {
  readonly name: string;
  /** What is done, as the table says it. */
  readonly title: string;
  readonly connections: number;
  /** How many times as many rounds it has as others, where rounds differ by the disk more than by the server; 1 if not said. */
  readonly timesRounds?: number;
  /** The operation that the peers are asked for; null where they have no like of it. */
  readonly peerOperation: Operation | null;
  readonly requests: (walk: Walk) => readonly Request[];
}

export const newAnimal = '{"name":"Rex","categoryId":1,"status":"available"}';
const hotPage: Request = { method: 'GET', path: '/v1/pets' };
/** Adds an animal. */
export const creation: Request = { method: 'POST', path: '/v1/pets', body: newAnimal };
const randomIdsMax = 32_768;
/** Of a store that has as many, more than are kept ready. */
const allIdsMax = 400_000;

export const scenarios: readonly Scenario[] = [
  {
    name: 'list-hot',
    title: 'list, the newest 20',
    connections: 64,
    peerOperation: 'list',
    requests: () => [hotPage],
  },
  {
    name: 'list-pages',
    title: 'list, thousands of different pages',
    connections: 64,
    peerOperation: null,
    requests: ({ pages }) => shuffle(pages).map((path) => ({ method: 'GET', path })),
  },
  {
    name: 'list-status',
    title: 'list, the newest 20 of a status',
    connections: 64,
    peerOperation: null,
    requests: () => [{ method: 'GET', path: '/v1/pets?status=available' }],
  },
  {
    name: 'get',
    title: 'get, random ids',
    connections: 64,
    peerOperation: 'get',
    requests: ({ animals }) => randomIds(animals).map((id) => ({ method: 'GET', path: `/v1/pets/${id}` })),
  },
  {
    name: 'get-any',
    title: 'get, random ids of all',
    connections: 64,
    peerOperation: null,
    requests: ({ animals }) =>
      randomIds(animals, allIdsMax).map((id) => ({ method: 'GET', path: `/v1/pets/${id}` })),
  },
  {
    name: 'create',
    title: 'create',
    connections: 64,
    peerOperation: 'create',
    requests: () => [creation],
  },
  {
    name: 'create-1',
    title: 'create, 1 connection',
    connections: 1,
    timesRounds: 4,
    peerOperation: null,
    requests: () => [creation],
  },
  {
    name: 'mix',
    title: '9 lists of the newest 20 to 1 create',
    connections: 64,
    peerOperation: null,
    requests: () => [...Array<Request>(9).fill(hotPage), creation],
  },
];

/** Ids spread over 1 to `animals`, in no order and each at most once; the same in every run. */
export function randomIds(animals: number, most = randomIdsMax): number[] {
  const count = Math.min(animals, most);
  return shuffle(Array.from({ length: count }, (_, index) => Math.floor((index * animals) / count) + 1));
}

/** Deals out in an order that is the same in every run (Park and Miller's generator). */
function shuffle<T>(items: readonly T[]): T[] {
  let state = 20_301_205;
  const keyed = items.map((item) => {
    state = (state * 48_271) % 2_147_483_647;
    return { item, place: state };
  });
  return keyed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}
