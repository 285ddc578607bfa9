import { type EventType, eventTypes, orderEventTypes } from '../events/event.ts';
import type { EventReader } from '../events/event-reader.ts';

const ofOrders: ReadonlySet<string> = new Set(orderEventTypes);

/** Whether a reader may read events of a type, at least those of its own account. */
export function canReadType({ seesPets, seesOrders }: EventReader, type: EventType): boolean {
  return ofOrders.has(type) ? seesOrders !== 'none' : seesPets;
}

/** The types of events that a reader may read. */
export function listReadableTypes(reader: EventReader): readonly EventType[] {
  return eventTypes.filter((type) => canReadType(reader, type));
}

/** The part of a reader's rights that events of some types need. */
export function narrowReader(reader: EventReader, types: readonly EventType[]): EventReader {
  return {
    accountId: reader.accountId,
    seesPets: reader.seesPets && types.some((type) => !ofOrders.has(type)),
    seesOrders: types.some((type) => ofOrders.has(type)) ? reader.seesOrders : 'none',
  };
}

const extents = { none: 0, own: 1, all: 2 } as const;

/** Whether a reader may read everything that another reader of the same account may. */
export function coversReader(reader: EventReader, other: EventReader): boolean {
  return (reader.seesPets || !other.seesPets) && extents[reader.seesOrders] >= extents[other.seesOrders];
}

/** The types in the text of a stored webhook, in the order of `eventTypes`. Ignores unknown names. */
export function readTypes(stored: string): readonly EventType[] {
  const names = stored.split(' ');
  return eventTypes.filter((type) => names.includes(type));
}
