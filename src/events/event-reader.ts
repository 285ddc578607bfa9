/** Who reads events, and which (contract section 13). */
export interface EventReader {
  readonly accountId: bigint;
  /** Whether it sees the events of animals and categories. */
  readonly seesPets: boolean;
  /** Which events of orders it sees: none, its account's, or those of every account with `account`. */
  readonly seesOrders: 'none' | 'own' | 'all';
}

/** Whether a reader sees an event; those of orders alone have an account. */
export function canSee(
  { accountId, seesPets, seesOrders }: EventReader,
  event: { readonly account_id: bigint | null },
): boolean {
  if (event.account_id === null) return seesPets;
  return seesOrders === 'all' || (seesOrders === 'own' && event.account_id === accountId);
}
