import Type from 'typebox';
import { readAccountState } from '../../../../administration/account-overview.ts';
import { webhooksMax } from '../../../../webhooks/webhook.ts';
import { defineConsoleOperation } from '../../operation.ts';
import type { ConsoleServices } from '../../services.ts';
import { pageRows } from '../fields.ts';
import { showWebhook } from '../webhooks/show-webhook.ts';
import { findAccount } from './find-account.ts';

/**
 * Returns everything that the page of an account shows: plan, rate limit windows, usage by hour, open holds, webhooks
 * and a page of keys.
 */
export const showAccount = defineConsoleOperation({
  method: 'GET',
  path: '/accounts/{account}',
  query: Type.Object({ keysFrom: Type.Optional(Type.String({ pattern: '^key_[0-9A-Za-z]{16}$' })) }),

  async handle({ params, query: { keysFrom = null } }, services) {
    const { id, account } = await findAccount(services.database, params['account']);
    const { allWebhooks, eventIds, clock } = services;
    const [state, keys, { webhooks }, oldest] = await Promise.all([
      readAccountState(services, account),
      listKeys(services, id, keysFrom),
      allWebhooks.listPage({ limit: Number(webhooksMax), account, status: null, newestId: null }),
      allWebhooks.readOldest(),
    ]);
    return {
      nowMs: clock(),
      ...state,
      ...keys,
      webhooks: webhooks.map((webhook) => showWebhook(webhook, eventIds)),
      oldest: eventIds.write(oldest),
    };
  },
});

/** Returns a page of the keys that are not revoked, each with the expiry of its ban. */
async function listKeys({ accountKeys, bans }: ConsoleServices, accountId: bigint, firstId: string | null) {
  const page = await accountKeys.list(accountId, pageRows, firstId);
  const ends = await bans.findEnds(page.keys.map(({ id }) => id));
  const keys = page.keys.map((key) => ({
    ...key,
    bannedUntilMs: key.state === 'expired' ? null : (ends.get(key.id) ?? null),
  }));
  return { keys, nextKey: page.nextId };
}
