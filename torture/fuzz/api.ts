import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Description } from '../../test/http/openapi/description.ts';
import { openRaw } from '../../test/support/raw-http.ts';
import { createRandom } from '../random.ts';
import type { Scenario } from '../scenario.ts';
import { startTarget } from '../target.ts';
import { callsFor } from './calls.ts';
import { createLane } from './lane.ts';
import { openShop } from './shop.ts';

const laneCount = 8;
const callsMax = 24;
const requestsMin = 100_000;
/** Factor for the number of runs, because each run has a random number of calls. */
const surplus = 1.1;

/** Generates calls from the service's own description and sends sequences of calls over persistent connections. */
export const fuzzApi: Scenario = {
  name: 'fuzz-api',
  title: 'Requests generated from the description: valid, nearly valid, invalid',
  minutes: 6,
  async run(context) {
    const { seed, scale, log } = context;
    const target = await startTarget(context, { TRUST_PROXY: '1' });
    const described = await fetch(new URL('/openapi.json', target.url));
    const description = (await described.json()) as Description;
    const shop = await openShop(target);
    const statuses = new Map<number, number>();
    let answered = 0;

    function onAnswer(status: number): void {
      answered += 1;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (answered % 20_000 === 0) log(`${answered} answers`);
    }

    const calls = fc.array(callsFor(description), { minLength: 1, maxLength: callsMax, size: 'max' });
    const random = createRandom(seed);
    const laneSeeds = Array.from({ length: laneCount }, () => random.between(1, 2 ** 31 - 1));
    const numRuns = Math.ceil((requestsMin * surplus * scale) / laneCount / ((1 + callsMax) / 2));
    const startedMs = performance.now();
    await Promise.all(
      laneSeeds.map(async (laneSeed, index) => {
        const lane = createLane({
          description,
          shop,
          number: index,
          connect: () => openRaw(context, target.url),
          onAnswer,
        });
        const property = fc.asyncProperty(calls, fc.boolean(), (list, isPipelined) =>
          lane.run(list, isPipelined),
        );
        await fc.assert(property, { seed: laneSeed, numRuns, includeErrorInReport: true });
      }),
    );
    assert.ok(answered >= requestsMin * scale, `only ${answered} requests were made`);
    const seconds = (performance.now() - startedMs) / 1_000;
    const byStatus = [...statuses].sort(([one], [other]) => one - other);
    return {
      done: `${answered} requests generated from \`/openapi.json\`: valid, nearly valid, invalid; one after another and pipelined`,
      seen: 'no 5xx; each status, header and body matched the description; each connection stayed in step',
      lost: 'nothing',
      well: 'at once',
      figures: {
        requests: answered,
        'requests/s': Math.round(answered / seconds),
        statuses: byStatus.map(([status, count]) => `${status}: ${count}`).join(', '),
        'memory at the end, MiB': Math.round(target.readMemoryMib()),
      },
    };
  },
};
