/** The entry of SQLite's writing thread in tests. It also knows the transactions that only tests use. */
import { serveWrites } from '../../src/storage/sqlite/thread.ts';
import { transactions } from '../../src/transactions.ts';
import * as works from '../contracts/works.ts';

serveWrites([...transactions, ...Object.values(works)]);
