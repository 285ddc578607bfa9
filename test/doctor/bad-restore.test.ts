import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findPostgres, type Store } from '../support/engines.ts';
import { openDumpFolder, whyNoPostgresTools } from '../support/postgres-tools.ts';
import { examineWith, expectFinding } from './examined.ts';

const postgres = await findPostgres();

const addPets = (count: number) => `insert into pets (name, category_id, status, is_owned)
  select 'Rex', 1, 'available', 0 from generate_series(1, ${count})`;

/** Expects that the doctor reports one problem, and that a start fails with the same words. */
async function expectRefused(store: Store, check: string, is: RegExp): Promise<void> {
  const findings = await examineWith({ DATABASE_URL: store.url });
  expectFinding(findings, check, 'problem', is);
  const { is: words = '', todo } = findings.find((one) => one.check === check && is.test(one.is)) ?? {};
  await assert.rejects(store.open(), ({ message }: Error) => message.endsWith(`: ${words}: ${todo}`));
}

const countPet = `insert into inventory_by_category values (1, 1, 0, 0);
  update inventory_totals set available = 1; delete from inventory_changes`;

/** A careless restore of a dump, the SQL that makes the dumped store and the one that is there, and what is left. */
const restores = [
  {
    how: 'over a newer store, in spite of its errors',
    command: 'pg_restore --dbname="$DATABASE_URL" animal-store.dump || true',
    dumped: addPets(1),
    present: addPets(3),
    check: 'ids',
    is: /^the sequences would assign ids again that are used in .*\bpets\b/,
  },
  {
    how: 'that stops after the rows',
    command:
      'pg_restore --clean --section=pre-data --section=data --dbname="$DATABASE_URL" animal-store.dump || true',
    dumped: addPets(1),
    present: '',
    check: 'parts',
    is: /^the store lacks index \w+, .* and \d+ more$/,
  },
  {
    how: 'of the rows alone',
    command: 'pg_restore --data-only --dbname="$DATABASE_URL" animal-store.dump || true',
    dumped: `${addPets(1)}; ${countPet}`,
    present: '',
    check: 'rows',
    is: /^the inventory of all animals is not the sum of the categories$/,
  },
];

const damages: readonly (readonly [what: string, sql: string, check: string, is: RegExp])[] = [
  ['a row that is missing', 'delete from event_horizon', 'rows', /^event_horizon has 0 rows instead of one$/],
  ['the missing secret of cursors', 'delete from secrets', 'rows', /^secrets has no row "cursor"$/],
  ['a sequence behind deleted events', 'update event_horizon set deleted_to = 7', 'ids', /used in events$/],
  [
    'a disabled trigger',
    'alter table pets disable trigger append_pets_added',
    'parts',
    /^triggers are disabled on pets$/,
  ],
  [
    'a missing trigger',
    'drop trigger append_pets_added on pets',
    'parts',
    /^the store lacks trigger append_pets_added on pets$/,
  ],
  [
    'a missing foreign key',
    'alter table orders drop constraint orders_account_id_fkey',
    'parts',
    /^the store lacks foreign key orders_account_id_fkey$/,
  ],
  [
    'what would refuse the writes after a promotion',
    'alter table server_timeline replica identity nothing; create publication everything for all tables',
    'promotion',
    /^after a promotion, the store could not skip lost ids: cannot update table "server_timeline"/,
  ],
  ['a missing table', 'drop table leases', 'parts', /^the store lacks table leases, index leases_pkey$/],
];

describe('the doctor and a start find', { skip: postgres.skip || (await whyNoPostgresTools()) }, () => {
  for (const { how, command, dumped, present, check, is } of restores)
    test(`what is left by a restore ${how}`, async (t) => {
      const run = await openDumpFolder(t);
      const former = await postgres.createStore(t);
      await former.execute(dumped);
      await run(former.url, 'pg_dump --format=custom --file=animal-store.dump --dbname="$DATABASE_URL"');
      const store = await postgres.createStore(t);
      await store.execute(present);
      await run(store.url, command);
      await expectRefused(store, check, is);
    });

  for (const [what, sql, check, is] of damages)
    test(what, async (t) => {
      const store = await postgres.createStore(t);
      await store.execute(sql);
      await expectRefused(store, check, is);
    });
});
