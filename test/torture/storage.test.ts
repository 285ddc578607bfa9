import { damaged } from '../../torture/storage/damaged.ts';
import { fullDisk } from '../../torture/storage/full-disk.ts';
import { locked } from '../../torture/storage/locked.ts';
import { removed } from '../../torture/storage/removed.ts';
import { hangingDisk, slowDisks } from '../../torture/storage/slow.ts';
import { unwritable } from '../../torture/storage/unwritable.ts';
import { testShort } from './short.ts';

testShort(fullDisk, 0.1);
testShort(unwritable, 0.1);
testShort(damaged, 0.1);
testShort(locked, 0.1);
testShort(removed, 0.1);
for (const slowDisk of slowDisks) testShort(slowDisk, 0.03);
testShort(hangingDisk, 0.03);
