import type { Caller } from '../../../accounts/account.ts';
import type { OrderReader } from '../../../orders/orders.ts';

/** Returns which orders a caller may read. With `orders:manage`, these are the orders of all accounts. */
export function readerOf({ accountId, scopes }: Caller): OrderReader {
  return { accountId, isManager: scopes.includes('orders:manage') };
}
