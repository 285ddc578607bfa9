import Type from 'typebox';
import { accountNameLengthMax } from '../../accounts/account.ts';
import { toTime } from '../../format.ts';
import { measureWindows, type WindowLeft } from '../../limits/rules/decision.ts';
import { planNames } from '../../plans/plan.ts';
import { countField, enumField, namedObject, openEnum, timeField } from '../../schema.ts';
import { defineOperation } from '../operation.ts';
import { CallingKeySchema, callingKey } from './keys.ts';
import { answer, example } from './parts.ts';

const WindowSchema = namedObject('LimitWindow', 'What is left of a window of the limits.', {
  limit: countField('The number of requests allowed in the window.'),
  remaining: countField('The number of requests left in the window.'),
  resetAt: timeField('When the window ends.'),
});

const PlanNameSchema = enumField(planNames, 'The plan that the account is on.', {
  title: 'PlanName',
  about: 'The plan of an account.',
});

const AccountSchema = namedObject('Account', 'The account of an API key, at one moment.', {
  account: Type.String({
    minLength: 1,
    maxLength: accountNameLengthMax,
    pattern: '^[^\\x00-\\x1f\\x7f]+$',
    description: 'The name of the account.',
  }),
  plan: openEnum(PlanNameSchema),
  key: CallingKeySchema,
  minute: WindowSchema,
  day: WindowSchema,
  openHolds: countField('The number of open holds of the account.'),
});

const exampleAccount = {
  account: 'Acme Zoo',
  plan: 'pro',
  key: callingKey,
  minute: { limit: 300, remaining: 299, resetAt: '2027-01-02T12:01:00.000Z' },
  day: { limit: 10_000, remaining: 8_412, resetAt: '2027-01-03T07:30:00.000Z' },
  openHolds: 2,
};

export const getAccount = defineOperation('getAccount', 'GET /account', null, {
  guide: 'limits',
  summary: 'Get the account',
  description:
    'Returns the account of the API key: its plan, what is left of both windows, and how many holds are open. Any key may call it. The request itself counts, and the response includes it.',
  isNeverStored: true,
  answers: answer(200, 'The account at this moment.', AccountSchema, {
    account: example('An account on Pro', exampleAccount),
  }),

  async handle({ caller, usage }, { countOpenHolds }) {
    if (usage === null) throw new Error('a request with a valid key was not counted');
    const { accountName: account, plan, limits, keyId: id, keyName: name, scopes } = caller;
    const { minute, day } = measureWindows(usage, limits);
    const openHolds = await countOpenHolds(caller.accountId);
    const key = { id, name, scopes, expiresAt: toTime(caller.keyExpiresAtMs) };
    return {
      status: 200,
      body: { account, plan, key, minute: toWindow(minute), day: toWindow(day), openHolds },
    };
  },
});

function toWindow({ limit, remaining, resetAtMs }: WindowLeft) {
  return { limit, remaining, resetAt: new Date(resetAtMs).toISOString() };
}
