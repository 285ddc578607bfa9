import { DatabaseError } from 'pg';
import { reasonOf } from '../../errors.ts';
import type { Query, Requirement } from './facts.ts';
import { tablesOfOneRow, tablesWithIds } from './parts.ts';

interface Content {
  /** Tables of one row that have another number of rows, with that number. */
  readonly miscounted: readonly string[];
  readonly has_secret: boolean;
  readonly inventory_agrees: boolean;
  /** Tables that have an id which their sequence may assign again. */
  readonly behind: readonly string[];
}

const lastIds = tablesWithIds.map((table) =>
  table === 'events'
    ? `('events', (select greatest(max(id), (select max(deleted_to) from event_horizon),
        (select max(skipped_to) from event_gaps)) from events))`
    : `('${table}', (select max(id) from ${table}))`,
);
const rowCounts = tablesOfOneRow.map((table) => `('${table}', (select count(*) from ${table}))`);

const contentSql = `
  select
    array(select concat(name, ' has ', rows, ' rows instead of one') from (values ${rowCounts}) as counted (name, rows)
      where rows <> 1) as miscounted,
    exists (select from secrets where name = 'cursor') as has_secret,
    not exists (select available, pending, sold from inventory_totals
      except select coalesce(sum(available), 0), coalesce(sum(pending), 0), coalesce(sum(sold), 0)
        from inventory_by_category) as inventory_agrees,
    array(select name from (values ${lastIds}) as used (name, last)
      where last > coalesce(pg_sequence_last_value(pg_get_serial_sequence(name, 'id')::regclass), 0)) as behind`;

const guide = 'docs/operations/backup-and-restore.md';

/** Returns what a bad restore may leave in the rows of a store of the newest schema. */
export async function askContent(query: Query): Promise<readonly Requirement[]> {
  const [content] = (await query(contentSql)) as readonly Content[];
  if (content === undefined) throw new Error('it does not answer');
  const { miscounted, has_secret, inventory_agrees, behind } = content;
  const wrong = [
    ...miscounted,
    ...(has_secret ? [] : ['secrets has no row "cursor"']),
    ...(inventory_agrees ? [] : ['the inventory of all animals is not the sum of the categories']),
  ];
  return [
    wrong.length === 0
      ? { check: 'rows', is: 'the rows that the store needs are there', todo: null }
      : {
          check: 'rows',
          is: wrong.join(', '),
          todo: `stop all instances and run the SQL for rows in "After a bad restore" of ${guide}`,
        },
    behind.length === 0
      ? { check: 'ids', is: 'no sequence is behind the ids of its table', todo: null }
      : {
          check: 'ids',
          is: `the sequences would assign ids again that are used in ${behind.join(', ')}`,
          todo: `stop all instances and run the SQL for ids in "After a bad restore" of ${guide}`,
        },
  ];
}

/** Adds no row, but what skips the ids after a promotion runs (skip_lost_ids in migration 0004). */
const rehearsalSql = `
  begin;
  set local lock_timeout = '200ms';
  update server_timeline set timeline = -1;
  insert into limit_resets (account_id, at_ms) select 0, 0 where false;
  rollback`;

const lockNotHad = '55P03';

/** Runs what a promotion runs at the first insert, and rolls it back. Another session's lock delays no start for long. */
export async function rehearsePromotion(query: Query): Promise<Requirement> {
  const check = 'promotion';
  try {
    await query(rehearsalSql);
    return { check, is: 'after a promotion, the store can skip lost ids', todo: null };
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    await query('rollback');
    if (error.code === lockNotHad)
      return { check, is: 'another session locks the store, so no promotion was rehearsed', todo: null };
    return {
      check,
      is: `after a promotion, the store could not skip lost ids: ${reasonOf(error)}`,
      todo: error.hint ?? 'remove what refuses this, because every write would fail then',
    };
  }
}
