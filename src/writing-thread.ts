/** The entry of SQLite's writing thread. */
import { serveWrites } from './storage/sqlite/thread.ts';
import { transactions } from './transactions.ts';

serveWrites(transactions);
