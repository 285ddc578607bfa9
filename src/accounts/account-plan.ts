import { type Plan, resolvePlan } from '../plans/plan.ts';

/** The plan columns of an account's row. Only enterprise has its own numbers. */
export function toPlanColumns({ name, limits, openHolds }: Plan) {
  const isCustom = name === 'enterprise';
  return {
    plan: name,
    perMinute: isCustom ? BigInt(limits.perMinute) : null,
    perDay: isCustom ? BigInt(limits.perDay) : null,
    openHolds: openHolds === undefined ? null : BigInt(openHolds),
  };
}

/** The plan columns of a row. `open_holds` is absent if the query does not read it. */
export interface PlanRow {
  readonly plan: string;
  readonly per_minute: bigint | null;
  readonly per_day: bigint | null;
  readonly open_holds?: bigint | null;
}

/** Reads the plan of an account's row with its effective limits. */
export function readPlan(row: PlanRow): Plan {
  const plan = resolvePlan(row.plan, {
    ...(row.per_minute !== null && { perMinute: Number(row.per_minute) }),
    ...(row.per_day !== null && { perDay: Number(row.per_day) }),
    ...(typeof row.open_holds === 'bigint' && { openHolds: Number(row.open_holds) }),
  });
  if ('problem' in plan) throw new Error(`an account's row has no valid plan: ${plan.problem}`);
  return plan;
}

/** Describes a plan for the audit log, with its numbers if they are the account's own. */
export function describePlan({ name, limits, openHolds }: Plan): Record<string, unknown> {
  if (name !== 'enterprise') return { plan: name };
  return { plan: name, ...limits, ...(openHolds !== undefined && { openHolds }) };
}
