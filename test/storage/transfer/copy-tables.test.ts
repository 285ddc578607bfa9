import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorError } from '../../../src/errors.ts';
import { useStore } from '../../../src/storage/transfer/copy-store.ts';
import { copyTables } from '../../../src/storage/transfer/copy-tables.ts';
import type { Row } from '../../../src/storage/transfer/whole-store.ts';
import { addPet, readContents } from '../../contracts/store-contents.ts';
import { openStore, sqliteEngine } from '../../support/engines.ts';

for (const [what, spoil] of [
  ['is missing', (rows: readonly Row[]) => rows.slice(1)],
  ['is duplicated', (rows: readonly Row[]) => rows.flatMap((row) => [row, row])],
  ['has a different value', (rows: readonly Row[]) => rows.map((row) => ({ ...row, id: 9n }))],
] as const)
  test(`a copy fails and leaves the target empty if a copied row ${what}`, async (t) => {
    const { store: source, database: original } = await openStore(t, sqliteEngine);
    await addPet(original);
    await addPet(original);
    const { store: target, database: copy } = await openStore(t, sqliteEngine);
    const before = await readContents(copy);
    const copying = useStore(source.url, (whole) =>
      useStore(target.url, (emptied) => {
        const spoilt = {
          ...emptied,
          async *readRows(name: string) {
            for await (const rows of emptied.readRows(name)) yield name === 'pets' ? spoil(rows) : rows;
          },
        };
        return copyTables(whole, spoilt, () => undefined);
      }),
    );
    await assert.rejects(copying, OperatorError);
    await assert.rejects(copying, /a row of pets was not copied exactly/);
    assert.deepEqual(await readContents(copy), before);
  });
