import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { scopes } from '../../src/accounts/account.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { startService, type TestService } from '../support/service.ts';

const webhook = { url: 'https://partner.example.com/animals' };

/** Starts a service whose clock stands still, so that it trusts a key for good as it was when it was first read. */
async function start(t: TestContext, engine: Engine) {
  let service: TestService | undefined;
  t.after(() => service?.stop());
  const { url, execute } = await engine.createStore(t);
  service = await startService(t, { DATABASE_URL: url });
  const { send, store } = service;
  await service.importPets(7);
  const key = await service.createKey(undefined, undefined, { account: 'Acme', scopes });
  const [{ id: keyId = '' } = {}] = await store.keyring.list('Acme');

  const act = async (line: string, body?: unknown) => {
    const response = await send(key, line, body);
    return { status: response.status, text: await response.text() };
  };
  /** Returns the id of what an act has made. */
  async function make(line: string, body: unknown): Promise<string> {
    const { status, text } = await act(line, body);
    assert.equal(status, 201, text);
    return /"id":"?(\w+)/.exec(text)?.[1] ?? '';
  }
  const readValues = async (sql: string) =>
    (await execute<{ value: unknown }>(sql)).map(({ value }) => String(value));
  return { execute, store, keyId, act, make, readValues };
}

type World = Awaited<ReturnType<typeof start>>;

/** Makes what the acts change. Returns each act that leaves something lasting. */
async function prepareActs({ make, act }: World) {
  const hookId = await make('POST /webhooks', webhook);
  const [held, sold] = [await make('POST /orders', { petId: 1 }), await make('POST /orders', { petId: 4 })];
  assert.equal((await act(`POST /orders/${sold}/complete`)).status, 200);
  const keyId = await make('POST /keys', { scopes: ['pets:read'] });
  return [
    ['POST /webhooks', webhook],
    [`PATCH /webhooks/${hookId}`, { status: 'enabled' }],
    [`POST /webhooks/${hookId}/rotate-secret`],
    [`POST /webhooks/${hookId}/ping`],
    [`DELETE /webhooks/${hookId}`],
    ['POST /orders', { petId: 7 }],
    [`POST /orders/${held}/complete`],
    [`POST /orders/${held}/cancel`],
    [`POST /orders/${sold}/return`],
    ['POST /keys', { scopes: ['pets:read'] }],
    [`POST /keys/${keyId}/rotate`, {}],
  ] as const;
}

/** What an act could leave: the number of rows of each table, and the statuses of orders and webhooks. */
const left = [
  ...['webhook_secrets', 'webhook_requests', 'api_keys', 'audit'].map(
    (table) => `'${table} ' || count(*) as value from ${table}`,
  ),
  ...['orders', 'webhooks'].map((table) => `'${table} ' || id || status as value from ${table}`),
];
const readLeft = ({ readValues }: World) =>
  readValues(`${left.map((each) => `select ${each}`).join(' union all ')} order by 1`);

const ends: Readonly<Record<string, readonly [code: string, end: (world: World) => Promise<unknown>]>> = {
  'a revoked key': ['api_key_revoked', ({ store, keyId }) => store.keyring.revoke(keyId)],
  'an expired key': ['api_key_expired', ({ execute }) => execute('update api_keys set expires_at_ms = 1')],
  'a suspended account': ['account_suspended', ({ store }) => store.accounts.suspend('Acme')],
  'a deleted account': ['api_key_revoked', ({ store }) => store.accounts.delete('Acme', null)],
};

/** Makes and deletes webhooks until `end`, which it calls after some, and on until an act is refused. Returns the codes. */
async function loopWebhooks({ act }: World, end: () => Promise<unknown>): Promise<string[]> {
  let ending: Promise<unknown> | null = null;
  let hasEnded = false;
  let made = 0;
  const begin = () => end().then(() => (hasEnded = true));
  async function loop(): Promise<string> {
    for (let after = 0; after < 5; after += hasEnded ? 1 : 0) {
      const { status, text } = await act('POST /webhooks', webhook);
      if (status !== 201) return JSON.parse(text).code;
      made += 1;
      if (made > 10) ending ??= begin();
      await act(`DELETE /webhooks/${JSON.parse(text).id}`);
    }
    return 'never refused';
  }
  const codes = await Promise.all([loop(), loop(), loop()]);
  await ending;
  return codes;
}

await describeOnEngines('an act of a key that the service still trusts', (engine) => {
  for (const [name, [code, end]] of Object.entries(ends))
    test(`it is refused to ${name}, as authentication would refuse it`, async (t) => {
      const world = await start(t, engine);
      const acts = await prepareActs(world);
      await end(world);
      const before = await readLeft(world);
      for (const [line, body] of acts) {
        const { text } = await world.act(line, body);
        assert.equal(JSON.parse(text || '{}').code, code, line);
      }
      assert.deepEqual(await readLeft(world), before);
    });

  test('an account that makes webhooks in a loop has none after its deletion', async (t) => {
    const world = await start(t, engine);
    const codes = await loopWebhooks(world, () => world.store.accounts.delete('Acme', null));
    assert.deepEqual(codes, Array(3).fill('api_key_revoked'));
    assert.deepEqual(await world.readValues('select public_id as value from webhooks'), []);
  });

  test('a key that makes webhooks in a loop has none enabled after a revocation that disables them', async (t) => {
    const world = await start(t, engine);
    const { store, keyId, readValues } = world;
    const revoke = () => store.keyring.revoke(keyId).then(() => store.allWebhooks.disableOfKey(keyId));
    const codes = await loopWebhooks(world, revoke);
    assert.deepEqual(codes, Array(3).fill('api_key_revoked'));
    assert.deepEqual(await readValues(`select id as value from webhooks where status = 'enabled'`), []);
  });
});
