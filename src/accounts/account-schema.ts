import Type from 'typebox';
import { planNames } from '../plans/plan.ts';
import { countField, enumField, timeField } from '../schema.ts';
import { accountNameLengthMax } from './account.ts';
import { CallingKeySchema } from './key.ts';

/** A rate limit window and its remaining requests. */
export const WindowSchema = Type.Object({
  limit: countField('The number of requests allowed in the window.'),
  remaining: countField('The number of requests left in the window.'),
  resetAt: timeField('When the window ends.'),
});

/** The schema of the name of a plan. */
export const PlanNameSchema = enumField(planNames, 'The plan that the account is on.');

/** The account of the calling key, as `GET /account` returns it (contract section 15). */
export const AccountSchema = Type.Object({
  account: Type.String({
    minLength: 1,
    maxLength: accountNameLengthMax,
    pattern: '^[^\\x00-\\x1f\\x7f]+$',
    description: 'The name of the account.',
  }),
  plan: PlanNameSchema,
  key: CallingKeySchema,
  minute: WindowSchema,
  day: WindowSchema,
  openHolds: countField('The number of open holds of the account.'),
});
