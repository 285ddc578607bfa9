import { setTimeout as pause } from 'node:timers/promises';
import { freeLimits } from '../../../src/plans/plan.ts';
import { addAsk, askFor, readAsk, readyAsk, settleMs, warmUp } from '../beside.ts';
import { startClients } from '../clients.ts';
import { type Figure, noFailures } from '../figures.ts';
import { freePlan, type Ground, issueKeys, withService } from '../ground.ts';
import type { Note, Row } from '../row.ts';

const readers = 10;
/** The readers use up the requests of a minute during the load. */
const pagesMax = freeLimits.perMinute;
const timesMax = 3;

const title = 'ten Free keys that read the feed of events from its start';

export const feed: Row = { name: 'feed', title, engine: 'SQLite', measure };
export const sharedFeed: Row = {
  name: 'feed-postgres',
  title: `${title}, over PostgreSQL`,
  engine: 'PostgreSQL',
  measure,
};

async function measure(ground: Ground, note: Note): Promise<Figure[]> {
  const keys = await issueKeys(ground, readers, freePlan);
  return await withService(ground, async ({ origin, opsOrigin }) => {
    const { key, seconds } = ground;
    await warmUp(origin, key, false);
    const asks = [readAsk(origin, key), addAsk(origin, key), readyAsk(opsOrigin)] as const;
    const alone = await askFor(asks, seconds);
    const pageEveryMs = (settleMs + seconds * 1_000) / pagesMax;
    const feeding = await startClients({ kind: 'followers', origin, keys, pagesMax, pageEveryMs });
    await pause(settleMs);
    const beside = await askFor(asks, seconds);
    note('feed', await feeding.stop());
    note('read, add, readyz without them', alone);
    note('read, add, readyz', beside);
    const names = ['read', 'add', '/readyz'];
    return [
      ...names.map(
        (name, place): Figure => ({
          goal: `${name}: p90`,
          value: beside[place]?.p90Ms ?? Number.NaN,
          max: timesMax * (alone[place]?.p90Ms ?? Number.NaN),
          unit: 'ms',
          rule: `${timesMax} × without them`,
        }),
      ),
      noFailures(beside),
    ];
  });
}
