import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toOneLine } from '../../schema/format-sql.ts';
import { petColumns } from '../../src/pets/pet.ts';
import { shownColumns } from '../../src/pets/pet-rows.ts';
import { findPostgres, openStore, sqliteEngine } from '../support/engines.ts';

const postgres = await findPostgres();
const fieldColumns = Object.values(petColumns).sort();

/** Returns the first group of each match, sorted and without repetitions. */
function listMatches(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].sort();
}

describe('the triggers of animals on SQLite', () => {
  for (const [name, snapshots] of [
    ['pets_added', 1],
    ['pets_updated', 2],
    ['pets_deleted', 1],
  ] as const)
    test(`${name} stores every field in its event`, async (t) => {
      const { store } = await openStore(t, sqliteEngine);
      const select = `select sql from sqlite_schema where name = '${name}'`;
      const [{ sql: text } = assert.fail()] = await store.execute<{ sql: string }>(select);
      const sql = toOneLine(text);
      const objects = sql.match(/json_object\([^)]*\)/g) ?? [];
      assert.equal(objects.length, snapshots);
      for (const object of objects) {
        assert.deepEqual(listMatches(object, /'(\w+)'/g), [...shownColumns].sort());
        assert.deepEqual(listMatches(object, /\.(\w+)/g), [...shownColumns].sort());
      }
      if (name !== 'pets_updated') return;
      const [, watched = '', condition = ''] = /update of (.*) on pets when (.*?) begin /.exec(sql) ?? [];
      assert.deepEqual(listMatches(watched, /(\w+)/g), fieldColumns);
      assert.deepEqual(listMatches(condition, /new\.(\w+)/g), fieldColumns);
      // With `<>`, a change from or to null is no change.
      const nullable = `select name from pragma_table_info('pets') where not "notnull" and not pk`;
      const comparedAsNull = listMatches(condition, /\.(\w+) is (?:not|distinct from) /g);
      for (const column of await store.execute<{ name: string }>(nullable))
        assert.ok(comparedAsNull.includes(column.name));
    });
});

test('the trigger of changed animals on PostgreSQL compares every field', {
  skip: postgres.skip,
}, async (t) => {
  const { store } = await openStore(t, postgres);
  const select = "select prosrc from pg_proc where proname = 'append_pets_updated'";
  const [{ prosrc } = assert.fail()] = await store.execute<{ prosrc: string }>(select);
  const body = toOneLine(prosrc);
  const [, compared = ''] = /where \(([^)]*)\) is distinct from/.exec(body) ?? [];
  assert.deepEqual(listMatches(compared, /became\.(\w+)/g), fieldColumns);
  assert.deepEqual(listMatches(body, /row_to_json\((\w+)\)/g), ['became', 'was']);
});
