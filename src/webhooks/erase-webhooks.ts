import { statement } from '../storage/database.ts';
import { eraseNext } from '../storage/erase.ts';

export const deleteWebhooks = statement((query, p: { accountId: bigint }) =>
  query.deleteFrom('webhooks').where('account_id', '=', p.accountId).returning('id'),
);

export const eraseWebhooks = eraseNext('webhooks');
