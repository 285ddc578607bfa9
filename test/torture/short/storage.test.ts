import { damaged } from '../../../torture/storage/damaged.ts';
import { fullDisk, locked, removed, unwritable } from '../../../torture/storage/faults.ts';
import { hangingDisk, slowDisks } from '../../../torture/storage/slow.ts';
import { hangingPostgres, slowPostgres } from '../../../torture/storage/slow-postgres.ts';
import { testShort } from './test-short.ts';

for (const fault of [fullDisk, unwritable, damaged, locked, removed]) testShort(fault, 0.1);
for (const slow of [...slowDisks, hangingDisk, slowPostgres(300), hangingPostgres]) testShort(slow, 0.03);
