import { storeWebhooks } from '../support/stored-webhooks.ts';
import type { Desk } from './console.ts';

export async function furnish({ store, createKey, request, send, post, openFile }: Desk): Promise<void> {
  const key = await createKey('pro', undefined, { account: 'Happy Paws', name: 'Warehouse' });
  await createKey('free', undefined, { account: 'Élodie’s reptiles & friends' });
  await createKey('business', undefined, { account: 'Acme Zoo', scopes: ['pets:read'] });
  openFile().exec(`insert into key_bans
    select id, ${Date.UTC(2027, 0, 2, 13)}, ${Date.UTC(2027, 0, 2, 11)}, 7200000, '', ${Date.UTC(2027, 0, 3)}
    from api_keys where account_id = 3`);
  const names = ['Rex', 'Élodie', 'Captain Whiskers of the Northern Harbour', 'Žofka', '猫'];
  for (const [n, name] of names.entries()) await post(key, { name, categoryId: n % 3 });
  await post(key, '{"name":"Far","categoryId":9223372036854775807,"status":"sold"}');
  await store.putCategory({ id: 1n, name: 'Dogs' });
  await store.putCategory({ id: 2n, name: 'Cats' });
  const place = async (petId: number, reference?: string) => {
    const placed = await send(key, 'POST /orders', { petId, holdSeconds: 80_000, reference });
    return ((await placed.json()) as { readonly id: number }).id;
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
  openFile().exec(`with recursive days(n) as (select 1 union all select n + 1 from days where n < 360)
    insert into usage_days select 1, ${Date.UTC(2027, 0, 2)} - n * 86400000, 3000 + n % 7 * 900 + (n * 37) % 500 - 6 * n,
      n % 7 * 20, (n * 13) % 40 from days`);
  await store.operators.add('mira@example.com', 'support');
  await store.operators.add('a-program-with-a-long-name-that-reports-every-night', 'reader');
  await store.sessions.makeToken('a-program-with-a-long-name-that-reports-every-night');
}
