import type { Registry } from 'prom-client';
import { beginsBan, type Usage } from '../limits/rules/decision.ts';
import { type Limits, type PlanName, planNames, resolvePlan } from '../plans/plan.ts';
import { expose } from './metrics.ts';

interface Tally {
  readonly plan: PlanName | 'none';
  readonly verdicts: Record<Usage['verdict'], number>;
  bans: number;
}

/**
 * Exposes the verdicts of the limits and the new bans by plan. Returns the function that counts them. `limits` is null,
 * and the plan `none`, for a request without a valid key.
 */
export function exposeVerdicts(registry: Registry): (usage: Usage, limits: Limits | null) => void {
  const enterprise = newTally('enterprise');
  const byLimits = new Map<Limits | null, Tally>([[null, newTally('none')]]);
  for (const name of planNames) {
    const plan = resolvePlan(name, {});
    if ('limits' in plan) byLimits.set(plan.limits, newTally(name));
  }
  const tallies = [...byLimits.values(), enterprise];

  const help = 'Requests by plan and by verdict of the limits.';
  expose(registry, 'counter', 'limit_verdicts_total', help, () =>
    tallies.flatMap(({ plan, verdicts }) =>
      Object.entries(verdicts).map(([verdict, value]) => ({ labels: { plan, verdict }, value })),
    ),
  );
  const ofKeys = tallies.filter(({ plan }) => plan !== 'none');
  expose(registry, 'counter', 'bans_begun_total', 'Bans of keys that began.', () =>
    ofKeys.map(({ plan, bans }) => ({ labels: { plan }, value: bans })),
  );

  return (usage, limits) => {
    // All accounts of a plan share one limits object. The exception is enterprise: each account has its own.
    const tally = byLimits.get(limits) ?? enterprise;
    tally.verdicts[usage.verdict] += 1;
    if (beginsBan(usage)) tally.bans += 1;
  };
}

/** Exposes whether this instance shares its counts with the others. Call it only if Redis is configured. */
export function exposeSharing(registry: Registry, isShared: () => boolean): void {
  const help = '1 while this instance counts requests together with the others, 0 while it counts alone.';
  expose(registry, 'gauge', 'counters_shared', help, isShared);
}

function newTally(plan: Tally['plan']): Tally {
  return { plan, verdicts: { passed: 0, refused: 0, banned: 0 }, bans: 0 };
}
