import { AccountSchema } from '../../../accounts/account-schema.ts';
import { measureWindows, type WindowLeft } from '../../../limits/rules/decision.ts';
import { after } from '../../../soon.ts';
import { defineOperation } from '../../operation.ts';
import { accountExample } from './examples.ts';

/** `GET /account`: returns the account of the calling key (contract section 15). */
export const getAccount = defineOperation({
  id: 'getAccount',
  method: 'GET',
  path: '/account',
  tag: 'account',
  scope: null,
  stability: 'beta',
  summary: 'Get the account',
  description:
    'Returns the account of the API key: its plan, what is left of both windows, and how many holds are open. Any key may call it. The request itself counts, and the answer includes it.',
  isNeverStored: true,
  answers: {
    200: {
      description: 'The account at this moment.',
      body: AccountSchema,
      examples: { account: { summary: 'An account on Pro', value: accountExample } },
    },
  },

  handle({ caller, usage }, { readStanding }) {
    if (usage === null) throw new Error('a request with a valid key was not counted');
    const { accountName: account, plan, limits, keyId: id, scopes } = caller;
    const { minute, day } = measureWindows(usage, limits);
    return after(readStanding(id), ({ keyName: name, keyExpiresAt: expiresAt, openHolds }) => {
      const key = { id, name, scopes, expiresAt };
      const windows = { minute: toWindow(minute), day: toWindow(day) };
      return { status: 200, body: { account, plan, key, ...windows, openHolds } };
    });
  },
});

function toWindow({ limit, remaining, resetAtMs }: WindowLeft) {
  return { limit, remaining, resetAt: new Date(resetAtMs).toISOString() };
}
