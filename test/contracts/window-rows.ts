import { type Database, statement } from '../../src/storage/database.ts';

/** Statements for the contract tests, on a table of texts and integers without foreign keys. */
export const insertWindow = statement((query, p: { subject: string; used: bigint }) =>
  query
    .insertInto('usage_windows')
    .values({
      subject: p.subject,
      minute_used: p.used,
      minute_ends_at_ms: p.used,
      day_used: p.used,
      day_ends_at_ms: p.used,
    })
    .returning('subject'),
);

export const addWindow = (database: Database, subject: string) =>
  database.run(insertWindow, { subject, used: 1n });

export const unavailable = { name: 'AppError', code: 'unavailable' };

export const selectUsed = statement((query, p: { subject: string }) =>
  query.selectFrom('usage_windows').select('minute_used as used').where('subject', '=', p.subject),
);

export const updateUsed = statement((query, p: { subject: string; used: bigint }) =>
  query.updateTable('usage_windows').set({ minute_used: p.used }).where('subject', '=', p.subject),
);

export const selectSubjects = statement((query) =>
  query.selectFrom('usage_windows').select('subject').orderBy('subject'),
);

export const insertSecret = statement((query, p: { name: string; value: Uint8Array }) =>
  query.insertInto('secrets').values({ name: p.name, value: p.value }),
);

export const selectSecret = statement((query, p: { name: string }) =>
  query.selectFrom('secrets').select(['name', 'value']).where('name', '=', p.name),
);

/** An invalid statement, because this table does not exist. */
export const selectFromNowhere = statement((query) => query.selectFrom('nowhere' as 'pets').select('id'));
