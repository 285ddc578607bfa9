import type { Registry } from 'prom-client';
import type { Counters } from '../limits/counters.ts';
import { beginsBan, type Usage } from '../limits/rules/decision.ts';
import { type Limits, type PlanName, planNames, resolvePlan } from '../plans/plan.ts';
import { after } from '../soon.ts';
import { expose } from './metrics.ts';

interface Tally {
  readonly plan: PlanName | 'none';
  readonly verdicts: Record<Usage['verdict'], number>;
  bans: number;
}

/**
 * Wraps counters and exposes their verdicts and new bans by plan. The plan `none` stands for requests without a valid
 * key, which are counted by address.
 */
export function countVerdicts(counters: Counters, registry: Registry): Counters {
  const none = newTally('none');
  const enterprise = newTally('enterprise');
  const byLimits = new Map<Limits, Tally>();
  for (const name of planNames) {
    const plan = resolvePlan(name, {});
    if ('limits' in plan) byLimits.set(plan.limits, newTally(name));
  }
  const tallies = [none, ...byLimits.values(), enterprise];

  expose(
    registry,
    { name: 'limit_verdicts_total', type: 'counter', help: 'Requests by plan and by verdict of the limits.' },
    () =>
      tallies.flatMap(({ plan, verdicts }) =>
        Object.entries(verdicts).map(([verdict, value]) => ({ labels: { plan, verdict }, value })),
      ),
  );
  expose(registry, { name: 'bans_begun_total', type: 'counter', help: 'Bans of keys that began.' }, () =>
    tallies.filter((tally) => tally !== none).map(({ plan, bans }) => ({ labels: { plan }, value: bans })),
  );

  /** All accounts of a plan share one limits object. The exception is enterprise: each account has its own. */
  function findTally(limits: Limits, keyId: string | null): Tally {
    return keyId === null ? none : (byLimits.get(limits) ?? enterprise);
  }

  return {
    take(subject, limits, keyId, nowMs) {
      const usage = counters.take(subject, limits, keyId, nowMs);
      const tally = findTally(limits, keyId);
      return after(usage, (known) => count(tally, known));
    },
    look: (subject, nowMs) => counters.look(subject, nowMs),
    lift: (subject, keyId, atMs) => counters.lift(subject, keyId, atMs),
  };
}

/**
 * Exposes whether this instance shares its counts with the others through Redis. Call it only if Redis is configured.
 */
export function exposeSharing(registry: Registry, isShared: () => boolean): void {
  expose(
    registry,
    {
      name: 'counters_shared',
      type: 'gauge',
      help: '1 while this instance counts requests together with the others, 0 while it counts alone.',
    },
    () => [{ labels: {}, value: Number(isShared()) }],
  );
}

function newTally(plan: Tally['plan']): Tally {
  return { plan, verdicts: { passed: 0, refused: 0, banned: 0 }, bans: 0 };
}

function count(tally: Tally, usage: Usage): Usage {
  tally.verdicts[usage.verdict] += 1;
  if (beginsBan(usage)) tally.bans += 1;
  return usage;
}
