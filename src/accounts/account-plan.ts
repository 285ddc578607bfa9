import { type Plan, resolvePlan } from '../plans/plan.ts';

/** Returns the plan columns of an account row. The limits are null unless the plan is enterprise. */
export function toPlanColumns({ name, limits, openHolds }: Plan) {
  const isCustom = name === 'enterprise';
  return {
    plan: name,
    perMinute: isCustom ? BigInt(limits.perMinute) : null,
    perDay: isCustom ? BigInt(limits.perDay) : null,
    openHolds: openHolds === undefined ? null : BigInt(openHolds),
  };
}

/** The plan columns of an account row. `open_holds` is absent if the query does not select it. */
export interface PlanRow {
  readonly plan: string;
  readonly per_minute: bigint | null;
  readonly per_day: bigint | null;
  readonly open_holds?: bigint | null;
}

/** Returns the plan of an account row with its effective limits. Throws Error if the row has no valid plan. */
export function readPlan(row: PlanRow): Plan {
  const plan = resolvePlan(row.plan, {
    ...(row.per_minute !== null && { perMinute: Number(row.per_minute) }),
    ...(row.per_day !== null && { perDay: Number(row.per_day) }),
    ...(typeof row.open_holds === 'bigint' && { openHolds: Number(row.open_holds) }),
  });
  if ('problem' in plan) throw new Error(`an account's row has no valid plan: ${plan.problem}`);
  return plan;
}

/** Describes a plan for the audit log. Includes the limits only if the plan is enterprise. */
export function describePlan({ name, limits, openHolds }: Plan): Record<string, unknown> {
  if (name !== 'enterprise') return { plan: name };
  return { plan: name, ...limits, ...(openHolds !== undefined && { openHolds }) };
}
