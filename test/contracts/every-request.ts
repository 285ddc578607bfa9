import { type OrderStatus, orderStatuses } from '../../src/orders/order.ts';
import { petStatuses } from '../../src/pets/pet.ts';
import { idOf, largeRows, manyOrders } from '../support/large-store.ts';

/** A key of an account with few rows, one of an account with many, and one that has every scope. */
export const callers = ['few', 'many', 'staff'] as const;
export type Caller = (typeof callers)[number];

/** A request to a large store. */
export interface Sent {
  readonly path: string;
  /** Absent: every caller sends it. */
  readonly as?: Caller;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

type Filters = Readonly<Record<string, readonly (string | number | bigint)[]>>;

/** Returns the path with every combination of the filters and their values. */
function withFilters(path: string, filters: Filters): Sent[] {
  let queries = [''];
  for (const [name, values] of Object.entries(filters))
    queries = queries.flatMap((query) => [query, ...values.map((value) => `${query}&${name}=${value}`)]);
  return queries.map((query) => ({ path: query === '' ? path : `${path}?${query.slice(1)}` }));
}

/** Returns the path without filters, with each of them, and with all. */
function withEach(path: string, filters: Filters): Sent[] {
  const all = withFilters(path, filters);
  return [
    ...withFilters(path, {}),
    ...Object.entries(filters).flatMap(([name, values]) => withFilters(path, { [name]: values }).slice(1)),
    all.at(-1) as Sent,
  ];
}

const fullPage = (path: string): Sent => ({ path: `${path}?limit=100` });
const page = 100;
const ids = Array.from({ length: page }, (_, index) => index * 500 + 1).join();

/** Numbers of rows: of an animal or an order that is free, reserved and completed, and of the account with few rows. */
const free = (place: number) => 3 * (1_000 + place);
const reserved = (place: number) => 3 * (2_000 + place) + 1;
const completed = (place: number) => 3 * (3_000 + place) + 2;
const reservedOfFew = (place: number) => 6_000 * place + 1;

/** A status of each kind: of an order that owns its animal, of one that has ended, and of one that a clock ends. */
const kinds: readonly OrderStatus[] = ['reserved', 'returned', 'expired'];

const keyed = (key: string) => ({ 'idempotency-key': key });
const newPet = { name: 'Rex', categoryId: 1 };
const webhookOf = { few: idOf('wh', 1), many: idOf('wh', 2) };

/** The requests of each operation of the public port, by its id. Each is sent once, so a write meets what it needs. */
export function listRequests(
  eventId: (position: number) => string,
): Readonly<Record<string, readonly Sent[]>> {
  const after = [0, largeRows / 2, largeRows - 10].map(eventId);
  return {
    listPets: [
      ...withFilters('/pets', { status: petStatuses, categoryId: [1, 2], id: [ids] }),
      fullPage('/pets'),
      { path: '/pets?limit=100&categoryId=2&status=sold' },
    ],
    getPet: [{ path: '/pets/7' }],
    listCategories: [{ path: '/categories' }, fullPage('/categories')],
    getInventory: withFilters('/store/inventory', { categoryId: [1] }),
    listOrders: [
      ...withFilters('/orders', {
        status: kinds,
        petId: [manyOrders.petId],
        reference: [manyOrders.reference, 'nothing'],
      }),
      ...withFilters('/orders', { status: orderStatuses }),
      fullPage('/orders'),
      { path: `/orders?limit=100&petId=${manyOrders.petId}` },
    ],
    getOrder: [
      { path: `/orders/${reservedOfFew(1)}`, as: 'few' },
      { path: `/orders/${completed(0)}`, as: 'staff' },
    ],
    listEvents: [
      ...withFilters('/events', {
        after: [...after, 'now'],
        type: ['pet.deleted', 'order.returned'],
        wait: [0],
      }),
      fullPage('/events'),
    ],
    getEvent: [{ path: `/events/${after.at(-1)}` }],
    getAccount: [{ path: '/account' }],
    listRequests: [
      ...withEach('/account/requests', {
        requestId: ['request_1'],
        status: [404, 500],
        code: ['not_found', 'internal_error'],
        since: ['2027-01-01T00:00:00Z'],
        until: ['2027-02-01T00:00:00Z', '2027-01-01T00:00:00Z'],
      }),
      fullPage('/account/requests'),
    ],
    listKeys: [{ path: '/keys' }, fullPage('/keys')],
    listWebhooks: [{ path: '/webhooks' }, fullPage('/webhooks')],
    getWebhook: [{ path: `/webhooks/${webhookOf.few}`, as: 'few' }],
    listWebhookAttempts: [{ path: `/webhooks/${webhookOf.few}/attempts`, as: 'few' }],
    createPet: [
      { path: '/pets', as: 'few', body: newPet },
      { path: '/pets', as: 'many', body: newPet, headers: keyed('a') },
      { path: '/pets', as: 'many', body: newPet, headers: keyed('a') },
    ],
    updatePet: [
      { name: 'Max' },
      { categoryId: 2 },
      { status: 'sold' },
      { name: 'Max', categoryId: 2, status: 'pending' },
    ].map((body, place) => ({ path: `/pets/${free(place)}`, as: 'many', body })),
    deletePet: [{ path: `/pets/${free(10)}`, as: 'many' }],
    putCategory: [7, 100_000].map((id) => ({
      path: `/categories/${id}`,
      as: 'many',
      body: { name: 'Cats' },
    })),
    deleteCategory: [{ path: '/categories/8', as: 'many' }],
    placeOrder: [
      { path: '/orders', as: 'many', body: { petId: free(20) } },
      {
        path: '/orders',
        as: 'few',
        body: { petId: Number(manyOrders.petId), reference: manyOrders.reference },
      },
      { path: '/orders', as: 'staff', body: { petId: free(21) }, headers: keyed('b') },
      { path: '/orders', as: 'staff', body: { petId: free(21) }, headers: keyed('b') },
    ],
    completeOrder: [{ path: `/orders/${reservedOfFew(2)}/complete`, as: 'few' }],
    cancelOrder: [
      { path: `/orders/${reservedOfFew(3)}/cancel`, as: 'few' },
      { path: `/orders/${reserved(1)}/cancel`, as: 'staff' },
      { path: `/orders/${reserved(1)}/cancel`, as: 'staff' },
    ],
    returnOrder: [{ path: `/orders/${completed(1)}/return`, as: 'staff' }],
    createKey: callers.map((as) => ({ path: '/keys', as, body: { scopes: ['pets:read'] } })),
    rotateKey: [{ path: `/keys/${idOf('key', 1)}/rotate`, as: 'few', body: {} }],
    deleteKey: [{ path: `/keys/${idOf('key', 1)}`, as: 'few' }],
    createWebhook: [{ path: '/webhooks', as: 'few', body: { url: 'https://shop.example/' } }],
    updateWebhook: [
      { status: 'disabled' },
      { status: 'enabled', after: 'now' },
      { after: eventId(largeRows / 2) },
      { types: ['pet.added'], url: 'https://shop.example/other' },
    ].map((body) => ({ path: `/webhooks/${webhookOf.few}`, as: 'few', body })),
    rotateWebhookSecret: [{ path: `/webhooks/${webhookOf.few}/rotate-secret`, as: 'few' }],
    pingWebhook: [{ path: `/webhooks/${webhookOf.few}/ping`, as: 'few' }],
    sendWebhookEvent: [{ path: `/webhooks/${webhookOf.few}/send`, as: 'few', body: { eventId: eventId(5) } }],
    deleteWebhook: [{ path: `/webhooks/${webhookOf.many}`, as: 'many' }],
  };
}

/** The accounts, by caller. */
export const accountNames: Readonly<Record<Caller, string>> = {
  few: 'shop 1',
  many: 'shop 2',
  staff: 'shop 3',
};

const account = ['few', 'many'].map((name) => encodeURIComponent(accountNames[name as Caller]));
const before = [largeRows / 2];

/** The reads of the console, by their address. */
export const consoleReads: Readonly<Record<string, readonly Sent[]>> = {
  'GET /session': [{ path: '/session' }],
  'GET /overview': [{ path: '/overview' }],
  'GET /requests': withEach('/requests', {
    account,
    key: [idOf('key', 1)],
    status: [404, 500],
    code: ['not_found', 'internal_error'],
    since: ['2026-12-01'],
    until: ['2027-02-01'],
    id: ['request_1'],
    before,
  }),
  'GET /strangers': [{ path: '/strangers' }],
  'GET /audit': withEach('/audit', {
    account,
    actor: ['mira', 'nobody'],
    since: ['2026-12-01'],
    until: ['2027-02-01', '1970-01-01'],
    action: ['pet.changed', 'key.created'],
    before,
    subject: ['wh_1'],
  }),
  'GET /accounts': withEach('/accounts', {
    name: ['shop'],
    sort: ['newest', 'name', 'requests'],
    before: [10_000],
  }),
  'GET /accounts/{account}': account.flatMap((name) =>
    withFilters(`/accounts/${name}`, { keysFrom: [idOf('key', 1)] }),
  ),
  'GET /accounts/{account}/days': account.map((name) => ({ path: `/accounts/${name}/days` })),
  'GET /usage/days': withFilters('/usage/days', {
    since: ['2026-12-25'],
    until: ['2026-12-28'],
    before: [`${Date.UTC(2026, 11, 26)}.500`],
  }),
  'GET /bans': withFilters('/bans', { before: [`9000000000000.${idOf('key', 5_000)}`] }),
  'GET /pets': withFilters('/pets', { status: petStatuses, categoryId: [1, 2], before }),
  'GET /pets/{petId}': [{ path: `/pets/${manyOrders.petId}` }],
  'GET /categories': withFilters('/categories', { before: [5_000] }),
  'GET /orders': withFilters('/orders', {
    status: kinds,
    petId: [manyOrders.petId],
    reference: [manyOrders.reference],
    account,
    before,
  }),
  'GET /orders/{orderId}': [{ path: `/orders/${completed(0)}` }, { path: '/orders/1' }],
  'GET /search': [
    ...['rex', 'shop', '7', 'as_stg_0000', idOf('key', 1), idOf('wh', 1), 'request 1', 'nothing'],
  ].map((text) => ({ path: `/search?text=${encodeURIComponent(text)}` })),
  'GET /webhooks': withEach('/webhooks', {
    account,
    status: ['enabled', 'failing', 'disabled'],
    before: [10_000],
  }),
  'GET /operators': withFilters('/operators', { before: ['mira'] }),
  'GET /sessions': withFilters('/sessions', { before: ['1.console_00000000'] }),
  'GET /webhooks/{webhookId}': [{ path: `/webhooks/${webhookOf.few}` }],
};
