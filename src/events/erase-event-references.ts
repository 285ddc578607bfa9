import { sql } from 'kysely';
import { blankField, eraseNext } from '../storage/erase.ts';

/** Blanks the references of orders in events. The events and their positions stay. */
export const eraseEventReferences = (['event_outbox', 'events'] as const).map((table) =>
  eraseNext(
    table,
    ({ engine }) => ({ data: blankField[engine]('data', 'reference') }),
    sql`data like '%"reference":"%'`,
  ),
);
