/** `npm run schema` writes `src/storage/schema.*.sql` from the migrations. It needs the PostgreSQL server of the tests. */
import { writeFile } from 'node:fs/promises';
import { newestSchema } from '../src/storage/migrations/migrate.ts';
import { findPostgres, sqliteEngine } from '../test/support/engines.ts';
import { migrateAsBefore } from '../test/support/older-schema.ts';
import { describeSchema, fileOf } from './describe-schema.ts';

const ends: (() => unknown)[] = [];
const ending = { after: (end: () => unknown) => ends.unshift(end) };
const postgres = await findPostgres();
if (postgres.skip !== false) throw new Error(postgres.skip);

try {
  const sqlite = await sqliteEngine.createEmptyStore(ending);
  await (await sqlite.open()).close();
  await writeFile(fileOf('sqlite'), await describeSchema('sqlite', sqlite.execute));
  // Not as a service does it, because the start looks for what the old file has.
  const empty = await postgres.createEmptyStore(ending);
  await migrateAsBefore(empty, newestSchema);
  await writeFile(fileOf('postgres'), await describeSchema('postgres', empty.execute));
} finally {
  for (const end of ends) await end();
}
