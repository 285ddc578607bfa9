import { setTimeout as pause } from 'node:timers/promises';
import { askFor, readAsk, settleMs, warmUp } from '../beside.ts';
import { startClients } from '../clients.ts';
import { noFailures } from '../figures.ts';
import { withService } from '../ground.ts';
import type { Row } from '../row.ts';

export const instances: Row = {
  name: 'instances',
  title: '1,100 strangers at one of two instances over PostgreSQL and Redis',
  engine: 'PostgreSQL',
  async measure(ground, note) {
    const { key, seconds, redisUrl } = ground;
    const shared = { settings: { REDIS_URL: redisUrl } };
    return await withService(
      ground,
      (one) =>
        withService(
          ground,
          async (other) => {
            for (const { origin } of [one, other]) await warmUp(origin, key);
            const { origin } = one;
            const crowd = await startClients({
              kind: 'askers',
              origin,
              connections: 1_100,
              texts: 'strangers',
            });
            await pause(settleMs);
            const asked = await askFor([readAsk(origin, key), readAsk(other.origin, key)] as const, seconds);
            note('crowd', await crowd.stop());
            note('read there, read at the other instance', asked);
            return [
              { goal: 'read there: p90', value: asked[0].p90Ms, max: 150, unit: 'ms' },
              { goal: 'read at the other instance: p90', value: asked[1].p90Ms, max: 150, unit: 'ms' },
              noFailures(asked),
            ];
          },
          shared,
        ),
      shared,
    );
  },
};
