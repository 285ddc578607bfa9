import { toTime } from '../../accounts/key-state.ts';
import { AccountSchema } from '../../accounts/schemas.ts';
import { measureWindows, type WindowLeft } from '../../limits/rules/decision.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { callingKey } from './keys.ts';

const example = {
  account: 'Acme Zoo',
  plan: 'pro',
  key: callingKey,
  minute: { limit: 300, remaining: 299, resetAt: '2027-01-02T12:01:00.000Z' },
  day: { limit: 10_000, remaining: 8_412, resetAt: '2027-01-03T07:30:00.000Z' },
  openHolds: 2,
};

const getAccount = defineOperation({
  id: 'getAccount',
  method: 'GET',
  path: '/account',
  scope: null,
  summary: 'Get the account',
  description:
    'Returns the account of the API key: its plan, what is left of both windows, and how many holds are open. Any key may call it. The request itself counts, and the answer includes it.',
  isNeverStored: true,
  answers: {
    200: {
      description: 'The account at this moment.',
      body: AccountSchema,
      examples: { account: { summary: 'An account on Pro', value: example } },
    },
  },

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

/** The operations on the account of the calling key. */
export const accountOperations: readonly Operation[] = [getAccount];
