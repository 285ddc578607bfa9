import { type Plan, resolvePlan } from '../plans/plan.ts';

/** The columns of an account's row that hold its plan: numbers of its own on enterprise alone. */
export function toPlanColumns({ name, limits }: Plan) {
  const isCustom = name === 'enterprise';
  return {
    plan: name,
    perMinute: isCustom ? BigInt(limits.perMinute) : null,
    perDay: isCustom ? BigInt(limits.perDay) : null,
  };
}

/** The plan in an account's row, with the numbers that hold for it. */
export function readPlan(row: { plan: string; per_minute: bigint | null; per_day: bigint | null }): Plan {
  const plan = resolvePlan(row.plan, {
    ...(row.per_minute !== null && { perMinute: Number(row.per_minute) }),
    ...(row.per_day !== null && { perDay: Number(row.per_day) }),
  });
  if ('problem' in plan) throw new Error(`an account's row has no valid plan: ${plan.problem}`);
  return plan;
}
