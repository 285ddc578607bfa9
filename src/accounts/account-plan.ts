import { type Plan, resolvePlan } from '../plans/plan.ts';

/** The columns of an account's row that hold its plan: numbers of its own on enterprise alone. */
export function toPlanColumns({ name, limits, openHolds }: Plan) {
  const isCustom = name === 'enterprise';
  return {
    plan: name,
    perMinute: isCustom ? BigInt(limits.perMinute) : null,
    perDay: isCustom ? BigInt(limits.perDay) : null,
    openHolds: openHolds === undefined ? null : BigInt(openHolds),
  };
}

/** The columns of an account's plan; who does not read `open_holds` is not told of them. */
export interface PlanRow {
  readonly plan: string;
  readonly per_minute: bigint | null;
  readonly per_day: bigint | null;
  readonly open_holds?: bigint | null;
}

/** The plan in an account's row, with the numbers that hold for it. */
export function readPlan(row: PlanRow): Plan {
  const plan = resolvePlan(row.plan, {
    ...(row.per_minute !== null && { perMinute: Number(row.per_minute) }),
    ...(row.per_day !== null && { perDay: Number(row.per_day) }),
    ...(typeof row.open_holds === 'bigint' && { openHolds: Number(row.open_holds) }),
  });
  if ('problem' in plan) throw new Error(`an account's row has no valid plan: ${plan.problem}`);
  return plan;
}
