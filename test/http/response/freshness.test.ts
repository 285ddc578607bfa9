import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { scopes } from '../../../src/accounts/account.ts';
import { formatHeads, openRaw } from '../../support/raw-http.ts';
import { nextOf, startWithKey, type TestService } from '../../support/service.ts';

type Shown = { readonly name: string };

const names = async (service: TestService, key: string, path = '/pets') =>
  ((await (await service.request(key, path)).json()) as Shown[]).map(({ name }) => name);

/** Repeatedly sends 50 pipelined requests on one connection. Returns a function that stops sending. */
async function startPipelining(t: TestContext, { baseUrl }: TestService, request: string) {
  const busy = await openRaw(t, baseUrl);
  let isOver = false;
  const pipelining = (async () => {
    while (!isOver) {
      busy.send(request.repeat(50));
      for (let answers = 0; answers < 50; answers += 1) await busy.read();
    }
  })();
  return async () => {
    isOver = true;
    await pipelining;
  };
}

test('a page has an animal that another process added before the request', async (t) => {
  const { service, key } = await startWithKey(t);
  const file = service.openFile();
  const insert = file.prepare("insert into pets (name, category_id, status) values (?, 1, 'available')");
  const get = `${formatHeads(key).get.replace('pets', 'pets?limit=1')}\r\n`;
  const other = await openRaw(t, service.baseUrl);
  const endPipelining = await startPipelining(t, service, get);
  for (let number = 1; number <= 200; number += 1) {
    insert.run(`Animal ${number}`);
    other.send(get);
    const [newest] = JSON.parse((await other.read()).body) as Shown[];
    assert.equal(newest?.name, `Animal ${number}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await endPipelining();
});

test('the page of a cursor from before a restore is correct while animals are added', async (t) => {
  const { service, key } = await startWithKey(t);
  await service.importPets(50);
  const page = nextOf(await service.request(key, '/pets?limit=2')) ?? '';
  const file = service.openFile();
  file.exec("delete from pets where id > 10; update sqlite_sequence set seq = 10 where name = 'pets'");
  assert.deepEqual(await names(service, key, page), ['n10', 'n9']);
  await service.post(key, { name: 'Rex', categoryId: 1 });
  assert.deepEqual(await names(service, key, page), ['Rex', 'n10']);
});

test('the next answer has a change or deletion that this service or another process made', async (t) => {
  const { service, key } = await startWithKey(t, {}, 'enterprise', undefined, { scopes });
  await service.importPets(3);
  const next = nextOf(await service.request(key, '/pets?limit=1')) ?? '';
  const paths = ['/pets', '/pets?status=sold', next];
  const list = () => Promise.all(paths.map((path) => names(service, key, path)));
  assert.deepEqual(await list(), [['n3', 'n2', 'n1'], ['n3'], ['n2']]);
  await service.send(key, 'PATCH /pets/2', '{"status":"sold","name":"here"}');
  assert.deepEqual(await list(), [['n3', 'here', 'n1'], ['n3', 'here'], ['here']]);
  await service.store.catalogue.change(2n, { status: 'pending', name: 'there' }, null);
  assert.deepEqual(await list(), [['n3', 'there', 'n1'], ['n3'], ['there']]);
  await service.request(key, '/pets/3', { method: 'DELETE' });
  assert.deepEqual(await list(), [['there', 'n1'], [], ['there']]);
  await service.store.catalogue.remove(1n, null);
  assert.deepEqual(await list(), [['there'], [], ['there']]);
  assert.equal((await service.request(key, '/pets/1')).status, 404);
});
