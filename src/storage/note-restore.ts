import { sql } from 'kysely';
import { type Database, statement } from './database.ts';

/** Adds no row. On PostgreSQL, the trigger `skip_lost_ids` runs before it. */
const insertNothing = statement((query) =>
  query
    .insertInto('limit_resets')
    .columns(['account_id', 'at_ms'])
    .expression((rows) =>
      rows.selectFrom('limit_resets').select(['account_id', 'at_ms']).where(sql<boolean>`false`),
    ),
);

/**
 * If the store on PostgreSQL was restored from a dump, or its server was promoted, does now what the first insert would do:
 * it skips the ids that may be lost, and after a restore puts the webhooks on hold and ends the sessions of operators. On SQLite, the restore itself does that.
 */
export async function noteRestore(database: Database): Promise<void> {
  if (database.engine === 'postgres') await database.run(insertNothing, {});
}
