import type { Category } from '../categories/category.ts';
import { parseExactJson, stringifyExactJson } from '../exact-json.ts';
import { type Order, type OrderRow, toOrder } from '../orders/order.ts';
import type { Pet } from '../pets/pet.ts';
import { type PetRow, toPet } from '../pets/pet-rows.ts';
import type { EventIds } from './event-ids.ts';
import type { EventReader } from './event-reader.ts';
import type { EventRow } from './event-rows.ts';

/** The text of events as a reader is shown them, each object as its own operations show it. */
export function writeEvents(
  events: readonly EventRow[],
  { seesOrders }: Pick<EventReader, 'seesOrders'>,
  ids: EventIds,
): string {
  return stringifyExactJson(
    events.map((event) => ({
      id: ids.write(event.id),
      type: event.type,
      timestamp: new Date(Number(event.at_ms)).toISOString(),
      data: toData(event, event.data, seesOrders === 'all'),
      ...(event.previous !== null && { previous: findPrevious(event, event.previous) }),
    })),
  );
}

function toData({ type, account }: EventRow, json: string, showsAccount: boolean): Pet | Category | Order {
  const row = parseExactJson(json);
  if (type.startsWith('order.')) return toOrder({ ...(row as OrderRow), account }, showsAccount);
  if (type.startsWith('category.')) return toCategory(row as Category);
  return toPet(row as PetRow);
}

/** The row may have columns that are shown to nobody. */
function toCategory({ id, name }: Category): Category {
  return { id, name };
}

/** The former values of the fields that have others now. */
function findPrevious(event: EventRow, json: string): object {
  const now = new Map(Object.entries(toData(event, event.data, false)));
  const former = Object.entries(toData(event, json, false));
  return Object.fromEntries(former.filter(([field, value]) => now.get(field) !== value));
}
