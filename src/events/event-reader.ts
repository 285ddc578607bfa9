/** The rights of a reader of events (contract section 13). */
export interface EventReader {
  readonly accountId: bigint;
  /** True if the reader may see the events of animals and categories. */
  readonly seesPets: boolean;
  /**
   * The order events that the reader may see:
   * - `none`: no order events.
   * - `own`: those of the reader's account.
   * - `all`: those of all accounts, with the field `account`.
   */
  readonly seesOrders: 'none' | 'own' | 'all';
}

/** Returns true if the reader may see the event. Only order events have an account. */
export function canSee(
  { accountId, seesPets, seesOrders }: EventReader,
  event: { readonly account_id: bigint | null },
): boolean {
  if (event.account_id === null) return seesPets;
  return seesOrders === 'all' || (seesOrders === 'own' && event.account_id === accountId);
}
