import { isDeepStrictEqual } from 'node:util';
import type { Category } from '../categories/categories.ts';
import { parseExactJson, stringifyExactJson } from '../exact-json.ts';
import { type Order, type OrderRow, toOrder } from '../orders/order.ts';
import type { Pet } from '../pets/pet.ts';
import { type PetRow, toPet } from '../pets/pet-rows.ts';
import type { EventIds } from './event-ids.ts';
import type { EventReader } from './event-reader.ts';
import type { EventRow } from './feed-page.ts';

type Shows = Pick<EventReader, 'seesOrders'>;

export function writeEvents(events: readonly EventRow[], reader: Shows, ids: EventIds): string {
  return `[${events.map((event) => writeEvent(event, reader, ids)).join()}]`;
}

/** Writes an event as a reader may see it. Its data has the form of the responses of its own operations. */
export function writeEvent(event: EventRow, { seesOrders }: Shows, ids: EventIds): string {
  const data = toData(event, event.data, seesOrders === 'all');
  const previous = event.previous === null ? {} : findChanged(toData(event, event.previous, false), data);
  return stringifyExactJson({
    id: ids.write(event.id),
    type: event.type,
    timestamp: new Date(Number(event.at_ms)).toISOString(),
    data,
    // A field that had no value before has no previous value.
    ...(Object.keys(previous).length > 0 && { previous }),
  });
}

function toData({ type, account }: EventRow, json: string, showsAccount: boolean): Pet | Category | Order {
  const row = parseExactJson(json);
  if (type.startsWith('pet.')) return toPet(row as PetRow);
  if (type.startsWith('category.')) {
    const { id, name } = row as Category;
    return { id, name };
  }
  if (type.startsWith('order.')) return toOrder({ ...(row as OrderRow), account }, showsAccount);
  throw new Error(`no reader may see events of the type ${type}`);
}

/** Returns the fields of `before` whose values differ in `now`. */
function findChanged(before: object, now: object): object {
  const present = new Map(Object.entries(now));
  return Object.fromEntries(
    Object.entries(before).filter(([field, value]) => !isDeepStrictEqual(present.get(field), value)),
  );
}
