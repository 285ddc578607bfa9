import type { Row } from './row.ts';
import { emptyConnects } from './rows/empty-connects.ts';
import { feed, sharedFeed } from './rows/feed.ts';
import { instances } from './rows/instances.ts';
import { readers } from './rows/readers.ts';
import { bannedKey, manyStrangers, strangers } from './rows/refused.ts';
import { reused } from './rows/reused-keys.ts';
import { shutdown } from './rows/shutdown.ts';
import { slowBodies } from './rows/slow-bodies.ts';

export const rows: readonly Row[] = [
  strangers,
  manyStrangers,
  bannedKey,
  emptyConnects,
  readers,
  shutdown,
  slowBodies,
  feed,
  sharedFeed,
  instances,
  reused,
];
