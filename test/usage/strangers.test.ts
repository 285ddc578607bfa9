import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { hourMs, minuteMs } from '../../src/clock.ts';
import { countedMax, createStrangers, listStrangers, writtenMax } from '../../src/usage/strangers.ts';
import { fieldsOf } from '../accounts/world.ts';
import { runInProcess } from '../support/command-line.ts';
import { describeOnEngines, type Engine } from '../support/engines.ts';
import { createMovableClock, startWithKey } from '../support/service.ts';

async function open(t: TestContext, engine: Engine) {
  const store = await engine.createStore(t);
  const database = await store.open();
  const clock = createMovableClock();
  const openStrangers = async () => createStrangers(await store.open(), clock.now);
  const strangers = await openStrangers();
  const list = async () => fieldsOf(await listStrangers(database, clock.now()), 'address', 'refusals');
  return { store, clock, strangers, openStrangers, list };
}

const refusal = { accountId: null, status: 401 };
const from = (address: string) => ({ ...refusal, address });

await describeOnEngines('the refused requests of strangers', (engine) => {
  test('add up over minutes and instances, the highest count first', async (t) => {
    const { clock, strangers, openStrangers, list } = await open(t, engine);
    const other = await openStrangers();
    for (const each of [strangers, other, strangers]) each.note(from('192.0.2.7'));
    other.note({ ...from('192.0.2.8'), status: 429 });
    await Promise.all([strangers.flush(), other.flush()]);
    clock.advance(minuteMs);
    strangers.note(from('192.0.2.7'));
    await strangers.flush();
    assert.deepEqual(await list(), [
      ['192.0.2.7', 4],
      ['192.0.2.8', 1],
    ]);
  });

  test('count for the network of an IPv6 address', async (t) => {
    const { strangers, list } = await open(t, engine);
    for (const address of ['2001:db8::1', '[2001:db8::2]:443']) strangers.note(from(address));
    await strangers.flush();
    assert.deepEqual(await list(), [['2001:db8:0:0::/64', 2]]);
  });

  test('are neither those of an account nor faults of the service', async (t) => {
    const { strangers, list } = await open(t, engine);
    strangers.note({ ...from('192.0.2.7'), accountId: 1n });
    strangers.note({ ...from('192.0.2.7'), status: 503 });
    await strangers.flush();
    assert.deepEqual(await list(), []);
  });

  test('are written for the addresses with the most', async (t) => {
    const { store, strangers, list } = await open(t, engine);
    for (let host = 0; host < 2 * writtenMax; host += 1) strangers.note(from(`192.0.2.${host}`));
    strangers.note(from('192.0.2.150'));
    await strangers.flush();
    assert.equal((await store.execute('select * from strangers')).length, writtenMax);
    assert.deepEqual((await list())[0], ['192.0.2.150', 2]);
  });

  test('are kept for an hour', async (t) => {
    const { store, clock, strangers, list } = await open(t, engine);
    strangers.note(from('192.0.2.7'));
    await strangers.flush();
    clock.advance(hourMs);
    await strangers.sweep();
    assert.equal((await list()).length, 1);
    clock.advance(2 * minuteMs);
    assert.deepEqual(await list(), []);
    await strangers.sweep();
    assert.deepEqual(await store.execute('select * from strangers'), []);
  });
});

test('an instance counts a bounded number of addresses in a minute', async () => {
  const written: [string, number][] = [];
  const transact = async (_: unknown, { highest }: { highest: typeof written }) => written.push(...highest);
  const strangers = createStrangers({ transact } as never, () => 0);
  const nameOf = (host: number) => `10.0.${host >> 8}.${host & 255}`;
  for (let host = 0; host < countedMax; host += 1) strangers.note(from(nameOf(host)));
  for (const host of [countedMax, countedMax, 7]) strangers.note(from(nameOf(host)));
  await strangers.flush();
  assert.deepEqual(
    written.filter(([, refusals]) => refusals > 1),
    [[nameOf(7), 2]],
  );
});

test('the operator finds the addresses of refused requests on the command line', async (t) => {
  const { service, key } = await startWithKey(t);
  for (const token of ['as_stg_wrong', null, key]) await service.request(token, '/pets');
  await service.stop();
  const url = service.config.databaseUrl;
  const printed = await runInProcess('strangers --json', url, { clock: service.clock.now });
  assert.deepEqual(JSON.parse(printed.stdout), [
    { address: '127.0.0.1', refusals: 2, lastAt: '2027-01-02T12:00:00.000Z' },
  ]);
});
