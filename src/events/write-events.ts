import type { Category } from '../categories/category.ts';
import { parseExactJson, stringifyExactJson } from '../exact-json.ts';
import { type Order, type OrderRow, toOrder } from '../orders/order.ts';
import type { Pet } from '../pets/pet.ts';
import { type PetRow, toPet } from '../pets/pet-rows.ts';
import type { EventIds } from './event-ids.ts';
import type { EventReader } from './event-reader.ts';
import type { EventRow } from './event-rows.ts';

/**
 * Returns the JSON of events as a reader may see them. Animals, categories and orders have the same form as in the
 * responses of their own operations.
 */
export function writeEvents(
  events: readonly EventRow[],
  { seesOrders }: Pick<EventReader, 'seesOrders'>,
  ids: EventIds,
): string {
  return stringifyExactJson(events.map((event) => toShown(event, seesOrders, ids)));
}

/** Like `writeEvents`, for one event. */
export function writeEvent(
  event: EventRow,
  { seesOrders }: Pick<EventReader, 'seesOrders'>,
  ids: EventIds,
): string {
  return stringifyExactJson(toShown(event, seesOrders, ids));
}

function toShown(event: EventRow, seesOrders: EventReader['seesOrders'], ids: EventIds): object {
  return {
    id: ids.write(event.id),
    type: event.type,
    timestamp: new Date(Number(event.at_ms)).toISOString(),
    data: toData(event, event.data, seesOrders === 'all'),
    ...(event.previous !== null && { previous: findPrevious(event, event.previous) }),
  };
}

function toData({ type, account }: EventRow, json: string, showsAccount: boolean): Pet | Category | Order {
  const row = parseExactJson(json);
  if (type.startsWith('order.')) return toOrder({ ...(row as OrderRow), account }, showsAccount);
  if (type.startsWith('category.')) return toCategory(row as Category);
  return toPet(row as PetRow);
}

/** Leaves out columns that clients never see. */
function toCategory({ id, name }: Category): Category {
  return { id, name };
}

/** Returns the previous values of the changed fields. */
function findPrevious(event: EventRow, json: string): object {
  const now = new Map(Object.entries(toData(event, event.data, false)));
  const before = Object.entries(toData(event, json, false));
  return Object.fromEntries(before.filter(([field, value]) => now.get(field) !== value));
}
