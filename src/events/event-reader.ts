import { catalogueEventTypes, type EventType, eventTypes, orderEventTypes } from './event.ts';

export interface EventReader {
  readonly accountId: bigint;
  /** True if the reader may see the events of animals and categories. */
  readonly seesPets: boolean;
  /** The order events that the reader may see: those of its account, or those of all, with the field `account`. */
  readonly seesOrders: 'none' | 'own' | 'all';
}

/** Reads all events. No account has the id 0: a reader who sees the orders of all accounts needs none of its own. */
export const everything: EventReader = { accountId: 0n, seesPets: true, seesOrders: 'all' };

const ofOrders: ReadonlySet<string> = new Set(orderEventTypes);
const ofCatalogue: ReadonlySet<string> = new Set(catalogueEventTypes);

export function isOrderType(type: EventType): boolean {
  return ofOrders.has(type);
}

/** True if the reader may read such events, at least those of its account. Nobody may read an unknown type. */
export function canReadType({ seesPets, seesOrders }: EventReader, type: string): boolean {
  if (ofOrders.has(type)) return seesOrders !== 'none';
  return seesPets && ofCatalogue.has(type);
}

export function listReadableTypes(reader: EventReader): readonly EventType[] {
  return eventTypes.filter((type) => canReadType(reader, type));
}

export function canSee(
  reader: EventReader,
  { type, account_id }: { readonly type: string; readonly account_id: bigint | null },
): boolean {
  if (!canReadType(reader, type)) return false;
  if (!ofOrders.has(type) || reader.seesOrders === 'all') return true;
  return account_id === reader.accountId;
}

/**
 * Returns the rights of the reader, limited to those that events of the given types need. A webhook has only these, so that a
 * key that may read its events may manage it.
 */
export function narrowReader(reader: EventReader, types: readonly EventType[]): EventReader {
  return {
    accountId: reader.accountId,
    seesPets: reader.seesPets && types.some((type) => ofCatalogue.has(type)),
    seesOrders: types.some(isOrderType) ? reader.seesOrders : 'none',
  };
}

/** By how much each value of `seesOrders` covers. A higher one covers the lower ones. */
const extents = { none: 0, own: 1, all: 2 } as const;

/** Returns true if `reader` may read every event that `other` may read. Both must have the same account. */
export function coversReader(reader: EventReader, other: EventReader): boolean {
  const coversPets = reader.seesPets || !other.seesPets;
  return coversPets && extents[reader.seesOrders] >= extents[other.seesOrders];
}
