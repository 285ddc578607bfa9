import type { Request, RequestHeaders } from './exchange.ts';

/** What the requests of the service are made from. */
export interface Walk {
  /** Addresses of different pages of 20, as `Link` gave them. */
  readonly pages: readonly string[];
  /** Many more addresses of pages, of 20 on average. */
  readonly manyPages: readonly string[];
  readonly animals: number;
}

export type Operation = 'list' | 'get' | 'create';

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly connections: number;
  readonly requests: (walk: Walk) => readonly Request[];
  /** The status of each answer. */
  readonly status: number;
  /** Whether each request carries the ETag of what it asks for. */
  readonly isConditional?: boolean;
  /** Settings of the service. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Headers of each request beside the key. */
  readonly headers?: RequestHeaders;
  /** The most CPU per request, as a multiple of the bare server's; null for a scenario that is shown and not judged. */
  readonly ratioMax: number | null;
  /** What the peers are asked for; null for what they do not have. */
  readonly peerOperation: Operation | null;
}

const readRatioMax = 1.2;
const loggedRatioMax = 1.6;
const createRatioMax = 1.9;
/** The figures of version 1.0.0 (docs/performance.md, baseline). */
const uncachedRatioMax = { list: 5, get: 2.3 };

export const newAnimal = '{"name":"Rex","categoryId":1,"status":"available"}';
export const hotPage: Request = { method: 'GET', path: '/v1/pets' };
/** Adds an animal. */
export const creation: Request = { method: 'POST', path: '/v1/pets', body: newAnimal };
const origin = 'https://shop.example';
const manyIdsMax = 400_000;
/** Few enough that a warm-up asks for each of them. */
const randomIdsMax = 4_096;

const common = { connections: 64, status: 200, peerOperation: null } as const;

const reads = [
  { name: 'list', title: 'newest page', peerOperation: 'list', requests: () => [hotPage] },
  {
    name: 'pages',
    title: 'thousands of pages',
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
  const shared = { ...common, requests, ratioMax: readRatioMax };
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

/** The scenarios that a run without `--only` measures. */
export const judgedScenarios: readonly Scenario[] = [
  ...reads.flatMap(toVariants),
  {
    ...common,
    name: 'list-log',
    title: 'newest page, LOG_REQUESTS=all',
    requests: () => [hotPage],
    settings: { LOG_REQUESTS: 'all' },
    ratioMax: loggedRatioMax,
  },
  {
    ...common,
    name: 'list-uncached',
    title: 'pages, each for the first time',
    requests: ({ manyPages }) => toGets(shuffle(manyPages)),
    ratioMax: uncachedRatioMax.list,
  },
  {
    ...common,
    name: 'get-uncached',
    title: 'gets, each for the first time',
    requests: ({ animals }) => toGets(randomIds(animals, manyIdsMax).map(toPetPath)),
    ratioMax: uncachedRatioMax.get,
  },
  { ...creates, name: 'create', title: 'create', peerOperation: 'create', ratioMax: createRatioMax },
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

/** Ids spread over 1 to `animals`, in no order and each at most once; the same in every run. */
export function randomIds(animals: number, most = randomIdsMax): number[] {
  const count = Math.min(animals, most);
  return shuffle(Array.from({ length: count }, (_, index) => Math.floor((index * animals) / count) + 1));
}

function toPetPath(id: number): string {
  return `/v1/pets/${id}`;
}

function toGets(paths: readonly string[]): Request[] {
  return paths.map((path) => ({ method: 'GET', path }));
}

/** Shuffles in an order that is the same in every run (Park and Miller's generator). */
function shuffle<T>(items: readonly T[]): T[] {
  let state = 20_301_205;
  const keyed = items.map((item) => {
    state = (state * 48_271) % 2_147_483_647;
    return { item, place: state };
  });
  return keyed.sort((a, b) => a.place - b.place).map(({ item }) => item);
}
