/** The reader of events, and what it may see (contract section 13). */
export interface EventReader {
  readonly accountId: bigint;
  /** Whether it sees the events of animals and categories. */
  readonly seesPets: boolean;
  /** The order events that it sees: none, those of its account, or those of all accounts with `account`. */
  readonly seesOrders: 'none' | 'own' | 'all';
}

/** Whether a reader sees an event. Only events of orders have an account. */
export function canSee(
  { accountId, seesPets, seesOrders }: EventReader,
  event: { readonly account_id: bigint | null },
): boolean {
  if (event.account_id === null) return seesPets;
  return seesOrders === 'all' || (seesOrders === 'own' && event.account_id === accountId);
}
