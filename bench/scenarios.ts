import { isAvailable } from './animals.ts';
import type { Request, RequestHeaders } from './exchange.ts';
import { ratioMax } from './goals.ts';

/** The data from which scenarios build their requests. */
export interface Walk {
  /** Addresses of different pages of 20 animals, with cursors from `Link` headers. */
  readonly pages: readonly string[];
  /** Up to 300,000 addresses of different pages, with 20 animals on average. */
  readonly manyPages: readonly string[];
  readonly animals: number;
}

export type Operation = 'list' | 'get' | 'create';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly connections: number;
  readonly requests: (walk: Walk) => readonly Request[];
  /** The expected status of each answer. */
  readonly status: number;
  /** True to send each request with the ETag of its answer in `If-None-Match`. */
  readonly isConditional?: boolean;
  /** Settings of the service. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Headers of each request besides the key. */
  readonly headers?: RequestHeaders;
  /** True to send each request with its own Idempotency-Key. */
  readonly isKeyed?: boolean;
  /** True to remove the triggers that write events from the store, in order to measure the cost of events. */
  readonly isEventless?: boolean;
  /** Number of edits per second during the load. They go through animals of the whole store in random order. */
  readonly editsPerSecond?: number;
  /** The maximum CPU time per request, as a multiple of the bare server's. Null for a scenario without a goal. */
  readonly ratioMax: number | null;
  /** The operation that peers are measured with. Null if the peers do not take part. */
  readonly peerOperation: Operation | null;
}

export const newAnimal = '{"name":"Rex","categoryId":1,"status":"available"}';
export const hotPage: Request = { method: 'GET', path: '/v1/pets' };
export const creation: Request = { method: 'POST', path: '/v1/pets', body: newAnimal };
const origin = 'https://shop.example';
const manyIdsMax = 400_000;
const editsPerSecond = 100;
const categories = 50;
/** A small number, so that the warm-up requests every id and fills the cache. */
const randomIdsMax = 4_096;

const common = { connections: 64, status: 200, peerOperation: null } as const;

const reads = [
  { name: 'list', title: 'newest page', peerOperation: 'list', requests: () => [hotPage] },
  {
    name: 'pages',
    title: 'one of thousands of pages',
    peerOperation: null,
    requests: ({ pages }: Walk) => toGets(shuffle(pages)),
  },
  {
    name: 'get',
    title: 'get, random ids',
    peerOperation: 'get',
    requests: ({ animals }: Walk) => toGets(randomIds(animals).map(toPetPath)),
  },
] as const;

function toVariants(read: (typeof reads)[number]): Scenario[] {
  const { name, title, requests } = read;
  const shared = { ...common, requests, ratioMax: ratioMax.cached };
  return [
    { ...shared, name: `${name}-plain`, title, peerOperation: read.peerOperation },
    {
      ...shared,
      name: `${name}-304`,
      title: `${title}, If-None-Match (304)`,
      status: 304,
      isConditional: true,
    },
    {
      ...shared,
      name: `${name}-cors`,
      title: `${title}, a listed Origin`,
      settings: { CORS_ORIGINS: origin },
      headers: { origin },
    },
    {
      ...shared,
      name: `${name}-head`,
      title: `${title}, HEAD`,
      requests: (walk) => requests(walk).map(({ path }) => ({ method: 'HEAD', path })),
    },
  ];
}

const creates = { ...common, requests: () => [creation], status: 201 } as const;

const writes: readonly Scenario[] = [
  { ...creates, name: 'create', title: 'create', peerOperation: 'create', ratioMax: ratioMax.create },
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
    ratioMax: null,
  },
  {
    ...common,
    name: 'patch',
    title: 'PATCH of the name, a different animal each time',
    requests: ({ animals }) => listRenames(randomIds(animals, manyIdsMax)),
    ratioMax: null,
  },
  {
    ...common,
    name: 'order',
    title: 'order, a different animal each time',
    status: 201,
    requests: ({ animals }) => listOrders(randomIds(animals, manyIdsMax)),
    ratioMax: null,
  },
];

/** Variants of `create` and `order` in a store that writes no events. */
const eventless = writes
  .filter(({ name }) => name === 'create' || name === 'order')
  .map(
    (scenario): Scenario => ({
      ...scenario,
      name: `${scenario.name}-eventless`,
      title: `${scenario.title}, in a store that writes no events`,
      isEventless: true,
      peerOperation: null,
      ratioMax: null,
    }),
  );

const editedReads = reads
  .filter(({ name }) => name !== 'get')
  .map(
    ({ name, title, requests }): Scenario => ({
      ...common,
      name: `${name}-edits`,
      title: `${title}, during ${editsPerSecond} edits a second`,
      requests,
      editsPerSecond,
      ratioMax: ratioMax.edited,
    }),
  );

/** The scenarios of a run without `--only`. */
export const judgedScenarios: readonly Scenario[] = [
  ...reads.flatMap(toVariants),
  {
    ...common,
    name: 'list-log',
    title: 'newest page, LOG_REQUESTS=all',
    requests: () => [hotPage],
    settings: { LOG_REQUESTS: 'all' },
    ratioMax: ratioMax.logged,
  },
  {
    ...common,
    name: 'list-uncached',
    title: 'pages, each requested once',
    requests: ({ manyPages }) => toGets(shuffle(manyPages)),
    ratioMax: ratioMax.uncachedList,
  },
  {
    ...common,
    name: 'get-uncached',
    title: 'single animals, each requested once',
    requests: ({ animals }) => toGets(randomIds(animals, manyIdsMax).map(toPetPath)),
    ratioMax: ratioMax.uncachedGet,
  },
  ...editedReads,
  {
    ...common,
    name: 'inventory',
    title: `inventory of the store and of ${categories} categories in turn`,
    requests: () => toGets(['', ...listCategories().map((id) => `?categoryId=${id}`)].map(toInventoryPath)),
    ratioMax: ratioMax.uncachedList,
  },
  ...writes,
  ...eventless,
];

export const scenarios: readonly Scenario[] = [
  ...judgedScenarios,
  { ...creates, name: 'create-alone', title: 'create, 1 connection', connections: 1, ratioMax: null },
  {
    ...common,
    name: 'mix',
    title: '9 newest pages to 1 create',
    requests: () => [...Array<Request>(9).fill(hotPage), creation],
    ratioMax: null,
  },
];

/** Returns distinct ids from 1 to `animals` in random order. Every run gets the same ids. */
export function randomIds(animals: number, most = randomIdsMax): number[] {
  const count = Math.min(animals, most);
  return shuffle(Array.from({ length: count }, (_, index) => Math.floor((index * animals) / count) + 1));
}

function listCategories(): number[] {
  return Array.from({ length: categories }, (_, index) => index + 1);
}

function addTo(categoryId: number): Request {
  return { ...creation, body: `{"name":"Rex","categoryId":${categoryId},"status":"available"}` };
}

function toInventoryPath(query: string): string {
  return `/v1/store/inventory${query}`;
}

/** Returns two renames for each animal, to different names, so that every request changes something. */
export function listRenames(ids: readonly number[]): Request[] {
  return ['Rex', 'Max'].flatMap((name) =>
    ids.map((id): Request => ({ method: 'PATCH', path: toPetPath(id), body: `{"name":"${name}"}` })),
  );
}

/** Returns one order for each available animal. Each order succeeds only once in a store. */
function listOrders(ids: readonly number[]): Request[] {
  return ids
    .filter((id) => isAvailable(id))
    .map((id) => ({ method: 'POST', path: '/v1/orders', body: `{"petId":${id}}` }));
}

function toPetPath(id: number): string {
  return `/v1/pets/${id}`;
}

function toGets(paths: readonly string[]): Request[] {
  return paths.map((path) => ({ method: 'GET', path }));
}

/** Shuffles items in the same way in every run, with Park and Miller's generator. */
function shuffle<T>(items: readonly T[]): T[] {
  let state = 20_301_205;
  const keyed = items.map((item) => {
    state = (state * 48_271) % 2_147_483_647;
    return { item, place: state };
  });
  return keyed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}
