import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Scenario, TortureContext } from '../scenario.ts';
import { startTarget, type Target } from '../target.ts';
import { describeService, serveBeside } from './good-client.ts';

/** The result of an abuse, for the fault table. */
interface Abused {
  readonly done: string;
  /** What the misbehaving clients saw. */
  readonly seen: string;
  readonly well: string;
}

interface AbuseOptions extends Omit<Scenario, 'run'> {
  readonly settings?: Record<string, string>;
  /** The maximum growth of the service's resident memory, in MiB at scale 1. */
  readonly growthMibMax: number;
  /** True if the misbehaving clients may get 503. The good client never may. */
  readonly mayRefuse?: true;
  misbehave(context: TortureContext, target: Target): Promise<Abused>;
}

const lookMs = 200;

/**
 * Creates a scenario with misbehaving clients and one good client. The service must serve every request of the good
 * client, must not fail, and must not grow beyond the bound. It must have as many animals as it answered with 201.
 */
export function abuse(options: AbuseOptions): Scenario {
  const { misbehave, settings, growthMibMax, mayRefuse, ...scenario } = options;
  return {
    ...scenario,
    async run(context) {
      const target = await startTarget(context, settings);
      await stock(context, target);
      const beforeMib = target.readMemoryMib();
      let peakMib = beforeMib;
      const looking = setInterval(() => {
        peakMib = Math.max(peakMib, target.readMemoryMib());
      }, lookMs);
      context.after(() => clearInterval(looking));

      const { value, service } = await serveBeside(context, target, () => misbehave(context, target));
      clearInterval(looking);
      assert.equal(target.child.exitCode, null, target.readLog());
      assert.doesNotMatch(target.readLog(), mayRefuse ? /"status":5(?!03)/ : /"status":5/);
      const [row] = await target.store.query('select count(*) as count from pets');
      assert.equal(Number(row?.['count']), stockCount + service.added);
      const growthMib = Math.round(peakMib - beforeMib);
      assert.ok(growthMib < growthMibMax, `the service grew by ${growthMib} MiB`);
      return {
        done: value.done,
        seen: `${value.seen}; ${describeService(service)}`,
        lost: 'nothing',
        well: value.well,
      };
    },
  };
}

/** Number of animals in the store. Each has the longest possible name, so that pages are as large as possible. */
const stockCount = 100;

async function stock({ folder }: TortureContext, target: Target): Promise<void> {
  const pet = JSON.stringify({ name: '\u{1f408}'.repeat(255), categoryId: 1 });
  const file = join(folder, 'stock.ndjson');
  await writeFile(file, `${pet}\n`.repeat(stockCount));
  await target.store.run('import', file);
}
