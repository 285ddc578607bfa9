/** The entry of SQLite's writing thread in tests. It also knows the transactions that only tests use. */
import '../contracts/works.ts';
import '../../src/writing-thread.ts';
