import { type Caller, coversScope } from '../../../accounts/account.ts';
import type { EventReader } from '../../../events/event-reader.ts';

/** Returns the rights of a caller to read events (contract section 9). */
export function readerOf({ accountId, scopes }: Caller): EventReader {
  const seesOwn = coversScope(scopes, 'orders:read');
  return {
    accountId,
    seesPets: scopes.includes('pets:read'),
    seesOrders: scopes.includes('orders:manage') ? 'all' : seesOwn ? 'own' : 'none',
  };
}
