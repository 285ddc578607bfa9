import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFirstAnswers } from '../../src/idempotency/first-answers.ts';
import { createCatalogue } from '../../src/pets/catalogue.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { findPostgres } from '../../test/support/engines.ts';
import { startRedisServer, whyNoRedisServer } from '../../test/support/redis-server.ts';
import { type Outcome, type Scenario, Skipped, type TortureContext } from '../scenario.ts';
import { startTarget, type Target } from '../target.ts';
import { describeService, serveBeside } from './good-client.ts';

/** The result of an abuse, for the fault table. */
export interface Abused {
  readonly done: string;
  /** What the misbehaving clients saw. */
  readonly seen: string;
  readonly well: string;
  readonly figures?: Outcome['figures'];
}

export interface AbuseOptions extends Omit<Scenario, 'run'> {
  readonly settings?: Record<string, string>;
  /** True to use PostgreSQL and Redis instead of an SQLite file. Default: false. */
  readonly isShared?: boolean;
  /** The maximum growth of the service's resident memory, in MiB at scale 1. */
  readonly growthMibMax: number;
  misbehave(context: TortureContext, target: Target): Promise<Abused>;
}

const lookMs = 200;

/**
 * Creates a scenario with misbehaving clients and one good client. The service must serve every request of the good
 * client, must not fail, and must not grow beyond the bound. It must have as many animals as it answered with 201.
 */
export function abuse(options: AbuseOptions): Scenario {
  const { misbehave, settings, isShared = false, growthMibMax, ...scenario } = options;
  return {
    ...scenario,
    async run(context) {
      const stores = isShared ? await prepareShared(context) : {};
      const target = await startTarget(context, { ...settings, ...stores });
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
      assert.doesNotMatch(target.readLog(), /"status":5/);
      assert.equal(await countPets(target), stockCount + service.added);
      const growthMib = Math.round(peakMib - beforeMib);
      assert.ok(growthMib < growthMibMax, `the service grew by ${growthMib} MiB`);
      return {
        done: value.done,
        seen: `${value.seen}; ${describeService(service)}`,
        lost: 'nothing',
        well: value.well,
        figures: {
          ...value.figures,
          'good client, answers': service.answers,
          'good client, median ms': service.medianMs,
          'good client, slowest ms': service.slowestMs,
          'memory before, MiB': Math.round(beforeMib),
          'memory at its height, MiB': Math.round(peakMib),
        },
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
  await target.command('import', file);
}

/** Creates a PostgreSQL database and a Redis for this scenario and returns their settings. */
async function prepareShared(context: TortureContext): Promise<Record<string, string>> {
  const postgres = await findPostgres();
  const missing = postgres.skip || (await whyNoRedisServer());
  if (missing !== false) throw new Skipped(missing);
  const { url } = await postgres.createStore(context);
  const redis = await startRedisServer(context);
  return { DATABASE_URL: url, REDIS_URL: redis.url };
}

async function countPets({ databaseUrl }: Target): Promise<number> {
  const database = await openDatabase(databaseUrl);
  try {
    let count = 0;
    for await (const pets of createCatalogue(database, createFirstAnswers(database)).listAll())
      count += pets.length;
    return count;
  } finally {
    await database.close();
  }
}

/** Scales the count of a full run. Returns at least 1. */
export function share(count: number, scale: number): number {
  return Math.max(1, Math.round(count * scale));
}
