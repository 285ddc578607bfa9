import type { Caller } from '../../../accounts/account.ts';
import type { OrderReader } from '../../../orders/orders.ts';

/** Whose orders a caller sees: with `orders:manage` those of every account. */
export function readerOf({ accountId, scopes }: Caller): OrderReader {
  return { accountId, isManager: scopes.includes('orders:manage') };
}
