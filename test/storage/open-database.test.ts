import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OperatorError } from '../../src/errors.ts';
import { openDatabase } from '../../src/storage/open-database.ts';

const password = 'hunter2';

for (const [what, address, line] of [
  ['an empty text', '', /must be "sqlite:" and the path of a file/],
  [
    'another kind of database',
    `mysql://root:${password}@127.0.0.1/pets`,
    /must be "sqlite:" and the path of a file/,
  ],
  ['a path without its scheme', './data/animal-store.db', /must be "sqlite:" and the path of a file/],
  ['SQLite without a path', 'sqlite:', /must be "sqlite:" and the path of a file/],
  ['SQLite in memory', 'sqlite::memory:', /must be "sqlite:" and the path of a file/],
  ['an address of SQLite itself', 'sqlite:file:/tmp/store.db', /must be "sqlite:" and the path of a file/],
  ['a folder', 'sqlite:/', /the database \/ cannot be opened: /],
  ['an invalid port', `postgres://root:${password}@127.0.0.1:99999/pets`, /ports are from 1 to 65535/],
  ['a password with a slash', `postgres://root:1/${password}@127.0.0.1/pets`, /percent-encoded$/],
  ['a password with a question mark', `postgres://root:1?${password}@127.0.0.1/pets`, /percent-encoded$/],
  ['a password with a number sign', `postgres://root:1#${password}@127.0.0.1/pets`, /percent-encoded$/],
  ['an unreachable server', `postgres://root:${password}@127.0.0.1:1/pets`, /127\.0\.0\.1:1\/pets.*REFUSED/],
  [
    'a host name with two addresses',
    `postgres://root:${password}@localhost:1/pets`,
    /localhost:1\/pets.*REFUSED/,
  ],
] as const)
  test(`openDatabase with ${what} as the address fails with one line that shows no password`, async () => {
    await assert.rejects(openDatabase(address), (error) => {
      assert.ok(error instanceof OperatorError);
      assert.match(error.message, line);
      assert.doesNotMatch(error.message, /\n/);
      assert.doesNotMatch(error.message, new RegExp(password));
      return true;
    });
  });
