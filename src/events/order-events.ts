import { type RawBuilder, sql } from 'kysely';
import { type Database, statement } from '../storage/database.ts';
import type { ByEngine } from '../storage/dialect.ts';
import type { EventIds } from './event-ids.ts';

/** Maximum number of events of an order. One that is returned has three. */
const eventsMax = 10n;

/** The id of the order of an event, as the index `events_of_order` has it. */
const orderIdOf: ByEngine<RawBuilder<unknown>> = {
  sqlite: sql`json_extract(data, '$.id')`,
  postgres: sql`cast(cast(data as jsonb) ->> 'id' as bigint)`,
};

/** Only orders have an account: the condition is that of the partial index. */
const selectOrderEvents = statement(
  (query, p: { orderId: bigint; count: bigint }, { engine, keysetAfter }) => {
    const { where, orderBy } = keysetAfter([[orderIdOf[engine], sql`${p.orderId}`]], sql.lit(0));
    return query
      .selectFrom('events')
      .select(['id', 'type', 'at_ms'])
      .where('account_id', 'is not', null)
      .where(where)
      .orderBy(orderBy)
      .limit(p.count);
  },
);

/** Returns the events of an order that the store still keeps, oldest first. Times are RFC 3339. */
export async function listOrderEvents(database: Database, ids: EventIds, orderId: bigint) {
  const rows = await database.read(selectOrderEvents, { orderId, count: eventsMax });
  return rows.map(({ id, type, at_ms: atMs }) => ({
    id: ids.write(id),
    type,
    at: new Date(Number(atMs)).toISOString(),
  }));
}
