import type { Actor } from '../../src/audit/audit-log.ts';
import { storeWebhooks } from '../support/stored-webhooks.ts';
import type { Desk } from './console.ts';

/** A page of the console: the part of its URL after `#`, and its heading. */
export interface ConsolePage {
  readonly name: string;
  readonly address: string;
  readonly heading: string;
}

/** The actor that names the categories. */
export const actor: Actor = { kind: 'key', name: 'key_3kTMd8fZq1LxW0aB' };

/** Fills a store like a real shop, and lists the pages to check. */
export async function furnish({
  store,
  createKey,
  request,
  post,
  openFile,
}: Desk): Promise<readonly ConsolePage[]> {
  const key = await createKey('pro', undefined, { account: 'Happy Paws', name: 'Warehouse' });
  await createKey('free', undefined, { account: 'Élodie’s reptiles & friends' });
  await createKey('business', undefined, { account: 'Acme Zoo', scopes: ['pets:read'] });
  openFile().exec(`insert into key_bans
    select id, ${Date.UTC(2027, 0, 2, 13)}, ${Date.UTC(2027, 0, 2, 11)}, 7200000, '', ${Date.UTC(2027, 0, 3)}
    from api_keys where account_id = 3`);
  const names = ['Rex', 'Élodie', 'Captain Whiskers of the Northern Harbour', 'Žofka', '猫'];
  for (const [n, name] of names.entries()) await post(key, { name, categoryId: n % 3 });
  await post(key, '{"name":"Far","categoryId":9223372036854775807,"status":"sold"}');
  await store.categories.put({ id: 1n, name: 'Dogs' }, actor);
  await store.categories.put({ id: 2n, name: 'Cats' }, actor);
  const headers = { 'content-type': 'application/json' };
  const place = async (petId: number, reference?: string) => {
    const body = JSON.stringify({ petId, holdSeconds: 80_000, reference });
    const { id } = (await (await request(key, '/orders', { method: 'POST', headers, body })).json()) as {
      readonly id: number;
    };
    return id;
  };
  await place(1, 'A-1017');
  await request(key, `/orders/${await place(2)}/complete`, { method: 'POST' });
  await request(key, `/orders/${await place(3, 'Returned to sender')}/cancel`, { method: 'POST' });
  const [acmeKey] = await store.keyring.list('Acme Zoo');
  storeWebhooks(openFile(), [
    { id: 'wh_8tKq2ZmX0aLr5VnC', url: 'https://paws.example.com/animal-store', position: 2, result: '503' },
    {
      id: 'wh_Jc41mQv9XbTfW0zs',
      accountId: 3,
      keyId: acmeKey?.id,
      url: `https://acme.example/${'long/'.repeat(20)}`,
      status: 'disabled',
      result: 'dns',
    },
    {
      id: 'wh_Qb7Lw3Nd5RkYp2Hs',
      accountId: 3,
      keyId: acmeKey?.id,
      url: 'https://acme.example/orders',
      position: 9,
      result: '204',
    },
  ]);
  await request(key, '/nothing');
  return [
    { name: 'accounts', address: 'accounts', heading: 'Accounts' },
    { name: 'account', address: 'accounts/Happy%20Paws', heading: 'Happy Paws' },
    { name: 'bans', address: 'bans', heading: 'Bans' },
    { name: 'requests', address: 'requests', heading: 'Failed requests' },
    { name: 'animals', address: 'animals', heading: 'Animals' },
    { name: 'users', address: 'accounts?sort=requests', heading: 'Accounts' },
    { name: 'animal', address: 'animals/1', heading: 'Animal 1' },
    { name: 'categories', address: 'categories', heading: 'Category names' },
    { name: 'orders', address: 'orders', heading: 'Orders' },
    { name: 'webhooks', address: 'webhooks', heading: 'Webhooks' },
    { name: 'webhook', address: 'webhooks/wh_8tKq2ZmX0aLr5VnC', heading: 'wh_8tKq2ZmX0aLr5VnC' },
    {
      name: 'no-webhooks',
      address: 'webhooks?account=%C3%89lodie%E2%80%99s%20reptiles%20%26%20friends',
      heading: 'Webhooks',
    },
    { name: 'audit', address: 'audit', heading: 'Audit log' },
    { name: 'overview', address: '', heading: 'Overview' },
  ];
}
