import { type Selectable, sql } from 'kysely';
import {
  type Database,
  defineTransaction,
  type Statement,
  type Steps,
  statement,
  step,
} from '../../storage/database.ts';
import { insertRow } from '../../storage/insert-row.ts';
import type { NamedEntries } from '../../storage/row-buffer.ts';
import type { Tables } from '../../storage/tables.ts';
import { type Conduct, forgetAtMs } from '../rules/bans.ts';
import type { Windows } from '../rules/windows.ts';

const readRowsMax = 10_000;
const deletedRowsMax = 1_000n;

type SavedTable = 'usage_windows' | 'key_bans';

/** The rows of a table by their names. A row counts while its column `end` is later than now. */
function savedRows<T extends SavedTable>(table: T, name: string, end: string) {
  type Row = Selectable<Tables[T]>;
  type Page = { after: string; endedMs: bigint; count: bigint };
  const selectPage = statement<Page>()((query, p) =>
    query
      .selectFrom<SavedTable>(table)
      .selectAll()
      .where(sql<boolean>`${sql.ref(name)} > ${p.after} and ${sql.ref(end)} > ${p.endedMs}`)
      .orderBy(sql.ref(name))
      .limit(p.count),
  ) as Statement<Page, unknown> as Statement<Page, Row>;

  // The condition stands twice, because another instance may write a row after the subquery has selected it.
  const deleteEnded = statement<{ endedMs: bigint; count: bigint }>()((query, p) => {
    const isEnded = sql<boolean>`${sql.ref(end)} <= ${p.endedMs}`;
    const oldest = sql`select ${sql.ref(name)} from ${sql.table(table)} where ${isEnded}
      order by ${sql.ref(end)} limit ${p.count}`;
    return query
      .deleteFrom<SavedTable>(table)
      .where(isEnded)
      .where(sql<boolean>`${sql.ref(name)} in (${oldest})`);
  });

  return {
    /** Reads the rows that end after `endedMs`, in pages. */
    async *read(database: Database, endedMs: number): AsyncGenerator<Row> {
      let rows: readonly Row[];
      let after = '';
      do {
        rows = await database.read(selectPage, {
          after,
          endedMs: BigInt(endedMs),
          count: BigInt(readRowsMax),
        });
        yield* rows;
        after = String(rows.at(-1)?.[name as keyof Row]);
      } while (rows.length === readRowsMax);
    },

    /** Deletes at most `deletedRowsMax` of the rows that end by `endedMs`, the oldest first. */
    deleteEnded: (database: Database, endedMs: number) =>
      database.run(deleteEnded, { endedMs: BigInt(endedMs), count: deletedRowsMax }),
  };
}

/**
 * The windows of subjects. A row counts for a minute longer than its `day_ends_at_ms`, because the minute window may end
 * after the day window. Of a day window that is not open, this column has the end of the minute window.
 */
export const savedWindows = savedRows('usage_windows', 'subject', 'day_ends_at_ms');

/** The bans and strikes of keys. */
export const savedConduct = savedRows('key_bans', 'key_id', 'forget_at_ms');

/** Selects the windows of one subject. */
export const selectWindowsOf = statement<{ subject: string }>()((query, p) =>
  query.selectFrom('usage_windows').selectAll().where('subject', '=', p.subject),
);

const windowColumns = ['minute_used', 'minute_ends_at_ms', 'day_used', 'day_ends_at_ms'] as const;
const upsertWindows = insertRow('usage_windows', ['subject', ...windowColumns], {
  on: ['subject'],
  replace: windowColumns,
});

/** Replaces the stored windows of subjects. */
export const writeWindows = defineTransaction(
  'writeWindows',
  function* (entries: NamedEntries<Windows>): Steps<void> {
    for (const [subject, { minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs }] of entries)
      yield* step(upsertWindows, {
        subject,
        minute_used: BigInt(minuteUsed),
        minute_ends_at_ms: BigInt(minuteEndsAtMs),
        day_used: BigInt(dayUsed),
        day_ends_at_ms: BigInt(dayUsed === 0 ? minuteEndsAtMs : dayEndsAtMs),
      });
  },
);

/** Converts a row into the windows of a subject. */
export function fromWindowsRow(row: Selectable<Tables['usage_windows']>): Windows {
  return {
    minuteUsed: Number(row.minute_used),
    minuteEndsAtMs: Number(row.minute_ends_at_ms),
    dayUsed: Number(row.day_used),
    dayEndsAtMs: row.day_used === 0n ? 0 : Number(row.day_ends_at_ms),
  };
}

const conductColumns = [
  'banned_until_ms',
  'last_ban_at_ms',
  'last_ban_ms',
  'refused_at_ms',
  'forget_at_ms',
] as const;
const upsertConduct = insertRow('key_bans', ['key_id', ...conductColumns], {
  on: ['key_id'],
  replace: conductColumns,
});

/**
 * Replaces the stored bans and strikes of keys. A row may be deleted at `forget_at_ms`. The text `refused_at_ms` has the
 * number of strikes and the end of their window. Release 1.1.0 keeps times there and finds none that count.
 */
export const writeConduct = defineTransaction(
  'writeConduct',
  function* (entries: NamedEntries<Conduct>): Steps<void> {
    for (const [keyId, conduct] of entries)
      yield* step(upsertConduct, {
        key_id: keyId,
        banned_until_ms: BigInt(conduct.banAtMs + conduct.banMs),
        last_ban_at_ms: BigInt(conduct.banAtMs),
        last_ban_ms: BigInt(conduct.banMs),
        refused_at_ms: `${conduct.strikes} ${conduct.strikesEndAtMs}`,
        forget_at_ms: BigInt(forgetAtMs(conduct)),
      });
  },
);

/** Converts a row into the bans and strikes of a key. */
export function fromConductRow(row: Selectable<Tables['key_bans']>): Conduct {
  const [strikes = 0, strikesEndAtMs = 0] = row.refused_at_ms.split(' ').map(Number);
  return { banAtMs: Number(row.last_ban_at_ms), banMs: Number(row.last_ban_ms), strikes, strikesEndAtMs };
}
