import assert from 'node:assert/strict';
import { once } from 'node:events';
import { findPostgres } from '../support/engines.ts';
import { add, ask, elementAt, readJson, readMetric, send, startInstances } from '../support/instances.ts';
import { type ServiceProcess, until } from '../support/processes.ts';
import { testsUnless } from '../support/programs.ts';
import { startReceiver } from '../support/receiver.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);

const senderMsMax = 10_000;
/** Another instance takes over within 30 s (contract section 14). The rest is a margin for a busy machine. */
const takeoverMsMax = 60_000;
/** Time in ms within which the position is written after the last answer, on a busy machine. */
const doneMsMax = 10_000;

interface Webhook {
  readonly id: string;
  readonly after: string | null;
}

function isSender(service: ServiceProcess): Promise<boolean> {
  return readMetric(service, 'animal_store_webhook_sender').then((value) => value === 1);
}

/** Returns the instance that sends webhooks, and the other instance. */
async function findSender(services: readonly ServiceProcess[]) {
  const listFlags = () => Promise.all(services.map(isSender));
  const flags = await until(listFlags, (found) => found.includes(true), senderMsMax);
  assert.deepEqual(flags.toSorted(), [false, true], 'one instance sends at a time');
  const place = flags.indexOf(true);
  return [elementAt(services, place), elementAt(services, 1 - place)] as const;
}

test('another instance continues the deliveries of a killed one in order', async (t) => {
  const settings = { ENVIRONMENT: 'development' };
  const made = await startInstances(t, { postgres, count: 2, settings });
  const { services, firstKey: key } = made;
  const [sender, other] = await findSender(services);
  const receiver = await startReceiver(t);
  const underWay = Promise.withResolvers<void>();
  // The receiver gets the fourth message but never answers it.
  receiver.reactions.push(204, 204, 204, () => underWay.resolve());

  const webhook = { url: receiver.url, types: ['pet.added'] };
  const { id } = await readJson<Webhook>(send(other, key, 'POST /webhooks', webhook));
  for (let n = 0; n < 8; n += 1) assert.equal((await add(n % 2 ? sender : other, key, `a${n}`)).status, 201);
  await underWay.promise;
  sender.child.kill('SIGKILL');
  if (sender.child.signalCode === null) await once(sender.child, 'exit');
  for (let n = 0; n < 4; n += 1) assert.equal((await add(other, key, `b${n}`)).status, 201);

  // The operator's port has no rate limit, so the test can poll that port for the whole lease.
  await until(() => isSender(other), Boolean, takeoverMsMax);
  await receiver.untilReceived(13);
  const events = await readJson<{ id: string }[]>(ask(other, key, '/events?limit=100'));
  const ids = events.map((event) => event.id);
  assert.equal(ids.length, 12);
  const readAfter = async () => (await readJson<Webhook>(ask(other, key, `/webhooks/${id}`))).after;
  await until(readAfter, (after) => after === ids[11], doneMsMax);
  assert.deepEqual(receiver.listIds(), ids.toSpliced(3, 0, elementAt(ids, 3)));
});
