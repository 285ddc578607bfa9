import { setTimeout as pause } from 'node:timers/promises';
import { readCommand } from '../../test/support/command-line.ts';
import { ask, type MadeKey, readMetric } from '../../test/support/instances.ts';
import { eventually, startSentinels, whyNoRedisServer } from '../../test/support/redis-server.ts';
import { type Fleet, startFleet } from '../follow/fleet.ts';
import { createRandom } from '../random.ts';
import { type Scenario, Skipped } from '../scenario.ts';

/** The requests of a Pro account in a minute, and how many are sent to the three instances together. */
const perMinute = 300;
const sent = 450;

export const sentinelFailover: Scenario = {
  name: 'failover-sentinel',
  title: 'the Redis master of three instances is killed, and Sentinel promotes its replica',
  minutes: 5,
  async run(context) {
    const missing = await whyNoRedisServer();
    if (missing !== false) throw new Skipped(missing);
    const { url, master, replica } = await startSentinels(context);
    const fleet = await startFleet(context, createRandom(context.seed), { REDIS_URL: url });
    await requireExact(fleet, 'before');
    await master.kill();
    const killedMs = performance.now();
    await eventually(async () =>
      /role:master/.test(String(await replica.command('info', 'replication').catch(() => ''))),
    );
    const decidedMs = performance.now();
    while (!(await isShared(fleet))) {
      const answers = await Promise.all(fleet.services.map((service) => ask(service, fleet.key)));
      const refused = answers.find(({ status }) => status !== 200);
      if (refused !== undefined) throw new Error(`a request was answered with ${refused.status}`);
      await pause(20);
    }
    const sharedMs = performance.now();
    await requireExact(fleet, 'after');
    const [decision, recovery] = [decidedMs - killedMs, sharedMs - decidedMs].map(Math.round);
    return {
      done: 'The Redis master was killed; three instances, three Sentinels with `down-after-milliseconds` 1000',
      seen: `No refusal; each instance counted alone until then. Exactly ${perMinute} of ${sent} requests passed a limit of ${perMinute}, before and after`,
      lost: 'Nothing but what instances counted alone',
      well: `Sentinel decided after ${decision} ms, and the instances counted together ${recovery} ms later`,
      figures: { decisionMs: decision ?? 0, recoveryMs: recovery ?? 0 },
    };
  },
};

async function isShared({ services }: Fleet): Promise<boolean> {
  const flags = await Promise.all(
    services.map((service) => readMetric(service, 'animal_store_counters_shared')),
  );
  return flags.every((flag) => flag === 1);
}

/** Requires that an account of its own gets exactly its limit from all instances together. */
async function requireExact({ services, store }: Fleet, account: string): Promise<void> {
  const create = ['keys', 'create', '--plan', 'pro', '--name', account];
  const { key } = await readCommand<MadeKey>(create, store.url, { settings: { ENVIRONMENT: 'production' } });
  const each = Array.from({ length: sent / services.length });
  const answers = await Promise.all(services.flatMap((service) => each.map(() => ask(service, key))));
  const passed = answers.filter(({ status }) => status === 200).length;
  if (passed !== perMinute) throw new Error(`${passed} of ${sent} requests passed ${account} the failover`);
}
