/** The entry of SQLite's writing thread. */
import { serveWrites } from './storage/sqlite/writer.ts';
import { transactions } from './transactions.ts';

serveWrites(transactions);
