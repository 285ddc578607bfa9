import assert from 'node:assert/strict';
import { fieldOf } from '../accounts/world.ts';
import { postgresAt } from '../support/engines.ts';
import { expectError } from '../support/expect-error.ts';
import { add, ask, elementAt, readJson, send, startInstances, untilAnswered } from '../support/instances.ts';
import { type ClusterTest, testOnCluster as test } from '../support/postgres-cluster.ts';
import { until } from '../support/processes.ts';
import { startReceiver } from '../support/receiver.ts';
import { eventually } from '../support/redis-server.ts';
import { startRelay } from '../support/relay.ts';

const backMsMax = 10_000;
const eventsMsMax = 20_000;

interface Shown {
  readonly id: string;
  readonly data: { readonly id: number };
}

/** Starts two instances with a webhook behind a relay to the primary. */
async function startWorld({ t, outer, primary, standby }: ClusterTest) {
  const relay = await startRelay(outer, primary.url);
  const settings = { ENVIRONMENT: 'development' };
  const instances = await startInstances(t, { postgres: postgresAt(relay.url), count: 2, settings });
  const key = instances.firstKey;
  const receiver = await startReceiver(t);
  const service = elementAt(instances.services, 0);
  const order = { url: receiver.url, types: ['pet.added'] };
  const webhook = await readJson<{ id: string }>(send(service, key, 'POST /webhooks', order));

  /** Adds animals, and returns their events in order once the webhook has received all of them. */
  async function addSome(after: string | null): Promise<readonly Shown[]> {
    const received = receiver.received.length;
    for (let count = 0; count < 5; count += 1)
      assert.equal((await add(instances.next(), key, 'Rex')).status, 201);
    const path = `/events?limit=100${after === null ? '' : `&after=${after}`}`;
    const read = () => readJson<Shown[]>(ask(service, key, path));
    const events = await until(read, ({ length }) => length >= 5, eventsMsMax);
    await receiver.untilReceived(received + 5);
    assert.deepEqual(receiver.listIds().slice(received), fieldOf(events, 'id'));
    return events;
  }

  async function failOver(): Promise<void> {
    await primary.kill();
    await standby.promote();
    relay.redirect(standby.url);
    for (const one of instances.services)
      await untilAnswered(one, key, ({ status }) => status === 200, backMsMax);
  }
  return { key, service, webhook, addSome, failOver };
}

test('a promotion without the last commits never takes a lost id or position for a new one', async (cluster) => {
  const { primary, standby } = cluster;
  await primary.alterSystem('reset synchronous_standby_names');
  const { key, service, webhook, addSome, failOver } = await startWorld(cluster);
  const kept = await addSome(null);
  const last = elementAt(kept, kept.length - 1);
  await eventually(async () => {
    const isEven = 'select pg_last_wal_replay_lsn() = pg_last_wal_receive_lsn() as is_even';
    const [row] = await standby.execute(isEven);
    return row?.['is_even'] === true;
  });
  await standby.alterSystem("set primary_conninfo = ''");
  await eventually(async () => (await standby.execute('select from pg_stat_wal_receiver')).length === 0);
  const lost = await addSome(last.id);
  await failOver();

  const expectLost = async () => {
    for (const { id } of lost)
      await expectError(await ask(service, key, `/events?after=${id}`), 410, 'events_expired');
    const refused = await send(service, key, `PATCH /webhooks/${webhook.id}`, { after: lost[0]?.id });
    await expectError(refused, 409, 'position_lost');
  };
  await expectLost();
  const added = await addSome(last.id);
  await expectLost();
  for (const pick of [({ id }: Shown) => id, ({ data }: Shown) => String(data.id)]) {
    const given = [...kept, ...lost, ...added].map(pick);
    assert.equal(new Set(given).size, given.length);
  }
});
