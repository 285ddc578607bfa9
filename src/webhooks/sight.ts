import { type EventType, eventTypes, orderEventTypes } from '../events/event.ts';
import type { EventReader } from '../events/event-reader.ts';

const ofOrders: ReadonlySet<string> = new Set(orderEventTypes);

/** Returns true if the reader may read events of the type, at least those of its own account. */
export function canReadType({ seesPets, seesOrders }: EventReader, type: EventType): boolean {
  return ofOrders.has(type) ? seesOrders !== 'none' : seesPets;
}

export function listReadableTypes(reader: EventReader): readonly EventType[] {
  return eventTypes.filter((type) => canReadType(reader, type));
}

/** Returns the rights of the reader, limited to those that events of the given types need. */
export function narrowReader(reader: EventReader, types: readonly EventType[]): EventReader {
  return {
    accountId: reader.accountId,
    seesPets: reader.seesPets && types.some((type) => !ofOrders.has(type)),
    seesOrders: types.some((type) => ofOrders.has(type)) ? reader.seesOrders : 'none',
  };
}

const extents = { none: 0, own: 1, all: 2 } as const;

/** Returns true if `reader` may read every event that `other` may read. Both must have the same account. */
export function coversReader(reader: EventReader, other: EventReader): boolean {
  return (reader.seesPets || !other.seesPets) && extents[reader.seesOrders] >= extents[other.seesOrders];
}

/** Parses the stored types of a webhook, separated by spaces, in the order of `eventTypes`. Ignores unknown names. */
export function readTypes(stored: string): readonly EventType[] {
  const names = stored.split(' ');
  return eventTypes.filter((type) => names.includes(type));
}
