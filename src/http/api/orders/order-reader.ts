import type { Caller } from '../../../accounts/account.ts';
import type { OrderReader } from '../../../orders/orders.ts';

/** The reader of orders for a caller. With `orders:manage` it sees the orders of all accounts. */
export function readerOf({ accountId, scopes }: Caller): OrderReader {
  return { accountId, isManager: scopes.includes('orders:manage') };
}
