import type { Steps } from '../src/storage/database.ts';
import type { Request, RequestHeaders } from './exchange.ts';
import { ratioMax } from './goals.ts';
import { manyIdsMax, randomIds, shuffle } from './ids.ts';
import { categories, creates, creation, listCategories, toPetPath, writes } from './writes.ts';

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
  /** True for a store in which orders have reserved many of the animals (addOrders). */
  readonly hasOrders?: boolean;
  /** The transaction of a request of a key. The service is then also compared with SQLite alone (floor.ts). */
  readonly toSteps?: (request: Request, keyId: string) => Steps<unknown>;
  /** Number of edits per second during the load. They go through animals of the whole store in random order. */
  readonly editsPerSecond?: number;
  /** The maximum CPU time per request, as a multiple of the bare server's. Null for a scenario without a goal. */
  readonly ratioMax: number | null;
  /** The operation that peers are measured with. Null if the peers do not take part. */
  readonly peerOperation: Operation | null;
}

export const hotPage: Request = { method: 'GET', path: '/v1/pets' };
const origin = 'https://shop.example';
const editsPerSecond = 100;

export const common = { connections: 64, status: 200, peerOperation: null } as const;

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

const editedReads = reads
  .filter(({ name }) => name !== 'get')
  .map(
    ({ name, title, requests }): Scenario => ({
      ...common,
      name: `${name}-edits`,
      title: `${title}, during ${editsPerSecond} edits a second`,
      requests,
      editsPerSecond,
      // Any change makes all cached pages stale, so only the newest page stays cached between two edits.
      ratioMax: name === 'list' ? ratioMax.edited : null,
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
    ratioMax: ratioMax.inventory,
  },
  ...writes,
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

function toInventoryPath(query: string): string {
  return `/v1/store/inventory${query}`;
}

function toGets(paths: readonly string[]): Request[] {
  return paths.map((path) => ({ method: 'GET', path }));
}
