import type { ConsoleOperation } from '../src/operator/console/operation.ts';
import { largeAccount, sizes } from './console-store.ts';

/** A call of the console's API. `path` and `body` may choose a different object in each round. */
export interface ConsoleCall {
  readonly method: string;
  readonly path: (round: number) => string;
  readonly body?: (round: number) => unknown;
}

const get = (path: string): ConsoleCall => ({ method: 'GET', path: () => path });
const act = (method: string, path: (round: number) => string, body?: ConsoleCall['body']): ConsoleCall => ({
  method,
  path,
  ...(body !== undefined && { body }),
});

const large = `/accounts/${encodeURIComponent(largeAccount)}`;
const half = Math.floor(sizes.animals / 2);
const numbered = (prefix: string, round: number, length = 16) =>
  `${prefix}${String(round + 1).padStart(length, '0')}`;

/**
 * Lists calls of every page and action. The pages include the slowest cases: deep pages, rare filters, empty searches.
 * `eventId` is the id of an event of the store.
 */
export const listConsoleCalls = (eventId: string): readonly ConsoleCall[] => [
  get('/session'),
  get('/overview'),
  get('/accounts'),
  get('/accounts?before=5000'),
  get('/accounts?name=nothing'),
  get('/accounts?sort=name'),
  get('/accounts?sort=requests'),
  get(large),
  get('/accounts/shop%209000'),
  get('/bans'),
  get('/requests'),
  get('/requests?status=429'),
  get('/requests?key=nothing'),
  get('/pets'),
  get(`/pets?before=${half}`),
  get('/pets?status=sold&categoryId=2'),
  get(`/pets?categoryId=77&before=${half}`),
  get('/pets?name=nothing'),
  get('/pets?name=nothing&status=sold'),
  get(`/pets/${half}`),
  get('/pets/1'),
  get('/categories'),
  get('/categories?before=5000'),
  get('/orders'),
  get('/orders?before=100000'),
  get('/orders?status=reserved'),
  get('/orders?status=expired'),
  get('/orders?petId=7'),
  get('/orders?reference=R-77'),
  get('/webhooks'),
  get('/webhooks?before=5000'),
  get('/webhooks?status=disabled'),
  get(`/webhooks?account=${encodeURIComponent(largeAccount)}&status=disabled`),
  get(`/webhooks/${numbered('wh_', 0)}`),
  get('/audit'),
  get('/audit?before=100000'),
  get(`/audit?account=${encodeURIComponent(largeAccount)}`),
  get('/audit?action=ban.lifted'),
  get('/audit?actor=nobody'),
  get(`/audit?action=ban.lifted&account=${encodeURIComponent(largeAccount)}`),
  act(
    'POST',
    () => '/accounts',
    (round) => ({ account: `new ${round}`, plan: 'free' }),
  ),
  act(
    'PUT',
    () => `${large}/plan`,
    (round) => ({ plan: round % 2 === 0 ? 'free' : 'pro' }),
  ),
  act(
    'PUT',
    () => `${large}/limits`,
    (round) => ({ perMinute: 100 + round, perDay: 10_000 }),
  ),
  act('POST', () => `${large}/reset-limits`),
  act(
    'POST',
    (round) => `/accounts/shop%20${round + 5_000}/delete`,
    (round) => ({ confirm: `shop ${round + 5_000}` }),
  ),
  act(
    'PUT',
    (round) => `/accounts/shop%20${round + 10}/name`,
    (round) => ({ name: `renamed ${round}` }),
  ),
  act('POST', (round) => `/accounts/shop%20${round + 100}/suspend`),
  act('POST', (round) => `/accounts/shop%20${round + 100}/resume`),
  act(
    'POST',
    () => `${large}/keys`,
    () => ({ scopes: ['pets:read'] }),
  ),
  act(
    'POST',
    (round) => `/keys/${numbered('key_', round)}/rotate`,
    () => ({ overlapSeconds: 60 }),
  ),
  act('POST', (round) => `/keys/${numbered('key_', round * 10 + 4)}/lift-ban`),
  act(
    'POST',
    (round) => `/keys/${numbered('key_', round + 100)}/revoke`,
    () => ({ disableWebhooks: false }),
  ),
  act(
    'POST',
    () => '/pets',
    () => ({ name: 'Rex', categoryId: 1 }),
  ),
  act('DELETE', (round) => `/pets/${half + round}`),
  act(
    'PUT',
    (round) => `/categories/${round + 1}`,
    (round) => ({ name: `renamed ${round}` }),
  ),
  act('DELETE', (round) => `/categories/${round + 100}`),
  act('POST', (round) => `/orders/${(round + 1) * 4}/cancel`),
  act('POST', (round) => `/orders/${round * 4 + 1}/return`),
  act('POST', (round) => `/webhooks/${numbered('wh_', round)}/disable`),
  act('POST', (round) => `/webhooks/${numbered('wh_', round)}/enable`),
  act(
    'POST',
    (round) => `/webhooks/${numbered('wh_', round)}/replay`,
    () => ({ after: 'now' }),
  ),
  act(
    'POST',
    (round) => `/webhooks/${numbered('wh_', round)}/send`,
    () => ({ eventId }),
  ),
  get('/operators'),
  get('/sessions'),
  act(
    'POST',
    () => '/operators',
    (round) => ({ name: numbered('person', round), role: 'reader' }),
  ),
  act(
    'POST',
    (round) => `/operators/${numbered('person', round)}/tokens`,
    () => ({}),
  ),
  act('DELETE', (round) => `/operators/${numbered('person', round)}`),
  act('DELETE', (round) => `/sessions/${numbered('console_', round, 8)}`),
];

/** Lists the operations that no call measures. PATCH is left out: it needs an ETag and costs as much as DELETE. */
export function listMissing(
  operations: readonly ConsoleOperation[],
  calls: readonly ConsoleCall[],
): string[] {
  const addresses = operations.map(({ address }) => address);
  return addresses.filter((address) => {
    const [method, path = ''] = address.split(' ');
    const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}(?:\\?|$)`);
    const isMeasured = calls.some((call) => call.method === method && pattern.test(call.path(0)));
    return address !== 'PATCH /pets/{petId}' && !isMeasured;
  });
}
