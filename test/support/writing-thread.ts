/** The entry of SQLite's writing thread in tests. It also knows the transactions that only tests use. */
import { serveWrites } from '../../src/storage/sqlite/writer.ts';
import { transactions } from '../../src/transactions.ts';
import { works } from '../contracts/works.ts';

serveWrites({ ...transactions, ...works });
