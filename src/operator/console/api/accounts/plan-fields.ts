import Type, { type Static } from 'typebox';
import { AppError } from '../../../../errors.ts';
import { type Plan, planNames, resolvePlan } from '../../../../plans/plan.ts';
import { enumField, wholeNumberField } from '../../../../schema.ts';

const numberMax = 1_000_000_000_000;
const numberField = () => Type.Optional(wholeNumberField('A limit.', { minimum: 1, maximum: numberMax }));

/** The fields of a plan. Only `enterprise` accepts the numbers. */
export const planFields = {
  plan: enumField(planNames, 'The plan.'),
  perMinute: numberField(),
  perDay: numberField(),
  openHolds: numberField(),
};

const PlanFields = Type.Object(planFields);

/** Returns the plan of a form. Throws `invalid_body` if the numbers are not valid for the plan. */
export function readPlanFields({ plan, ...numbers }: Static<typeof PlanFields>): Plan {
  const given = Object.entries(numbers)
    .filter(([name, value]) => name in planFields && value !== undefined)
    .map(([name, value]) => [name, Number(value)]);
  const resolved = resolvePlan(plan, Object.fromEntries(given));
  if ('problem' in resolved) throw new AppError('invalid_body', resolved.problem);
  return resolved;
}
