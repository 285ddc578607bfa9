import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createWorld, expectMistake, runInProcess, unopened } from '../support/command-line.ts';
import { runProgram } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

describe('a usage error prints one line and exits with 2:', () => {
  const mistakes: readonly [args: string, line: RegExp][] = [
    ['bogus', /unknown command 'bogus'/],
    ['keys bogus', /unknown command 'bogus'/],
    ['help bogus', /unknown command 'bogus'/],
    ['help keyz', /unknown command 'keyz' \(Did you mean keys\?\)/],
    ['--bogus', /unknown option '--bogus'/],
    ['keyz', /unknown command 'keyz' \(Did you mean keys\?\)/],
    ['keys create --plam free', /unknown option '--plam' \(Did you mean --plan\?\)/],
    ['keys list surplus', /too many arguments/],
    ['keys create', /a new account needs --plan/],
    ['keys create --plan', /argument missing/],
    ['keys create --plan gold', /'gold' is invalid\. Allowed choices are free, pro, business, enterprise/],
    ['keys create --plan free --per-minute 5', /plan free has fixed limits/],
    ['keys create --plan enterprise', /plan enterprise needs both per-minute and per-day/],
    ['keys create --plan enterprise --per-day 5 --per-minute 0', /'0' is invalid.*from 1 to 1000000000000/],
    ['keys create --plan enterprise --per-day 5 --per-minute 1000000000001', /is invalid/],
    ['keys create --account Zoo --per-minute 5', /--per-day and --open-holds need --plan enterprise/],
    ['keys create --plan free --scopes pets:delete', /scopes must be "all" or a comma-separated list of/],
    ['keys create --plan free --expires-in 0d', /It must be at least one second/],
    ['keys create --plan free --expires-in 30', /'30' is invalid.*as in 30d/],
    ['keys create --plan free --expires-in 36501d', /at most 100 years/],
    ['keys create --plan free --account \x1b[31mred', /'\\u\{1b\}\[31mred' is invalid\. An account/],
    ['keys rotate', /missing required argument 'id'/],
    ['keys rotate key_x --overlap soon', /'soon' is invalid/],
    ['accounts create Zoo', /required option '--plan <plan>' not specified/],
    ['accounts rename Zoo \x07', /An account name must/],
    ['accounts rename Zoo ..', /An account name must .* and must not be "\.", "\.\." or like/],
    ['accounts delete Zoo', /required option '--confirm <account>' not specified/],
    ['accounts delete Zoo --confirm Zo', /--confirm must repeat the name "Zoo"/],
    ['accounts set-limits Zoo --per-minute 5 --per-day 5 --until soon', /must be a duration, as in 2h, or/],
    ['accounts set-limits Zoo --per-minute 5 --per-day 5 --until 2020-01-01', /or, in the future, a date/],
    ['requests --status 0', /'0' is invalid/],
    ['requests --code no_such_code', /'no_such_code' is invalid/],
    ['usage --by traffic', /'traffic' is invalid/],
    ['audit --action account.made', /'account\.made' is invalid/],
    ['requests --since 2027-02-01 --until 2027-01-01', /--until must be later than --since/],
    ['audit --since yesterday', /'yesterday' is invalid.*as in 7d/],
    ['orders list --status open', /'open' is invalid/],
    ['orders list --pet 007', /must be an id in decimal digits/],
    ['orders list --limit 0', /must be a whole number from 1 to 10000/],
    ['orders list --reference " "', /must have 1 to 255 characters/],
    ['orders export --until soon', /must be a date or a time, as in 2027-01-11/],
    ['orders export --until 2027-02-30', /'2027-02-30' is invalid/],
    ['orders export --until 2027-02-01T25:00Z', /'2027-02-01T25:00Z' is invalid/],
    ['orders export --until 1970', /'1970' is invalid/],
    ['orders export --since 2027-02-01 --until 2027-01-01', /--until must be later than --since/],
    ['orders export --json', /--json needs --output FILE/],
    ['orders cancel x', /must be an id in decimal digits/],
    ['pets edit 7', /nothing to change: name at least one of/],
    ['pets edit 7 --name " "', /name must be a string of 1 to 255 characters/],
    ['pets edit 7 --category-id 1.5', /must be a whole number from -9223372036854775808/],
    ['pets edit 7 --status lost', /'lost' is invalid/],
    ['migrate --from sqlite:a.db', /--from and --to must be used together/],
    [
      'migrate --from postgres://root:1/hunter2@127.0.0.1/a --to sqlite:a.db',
      /^(?!.*hunter2).*--from must be .* percent-encoded/,
    ],
    ['migrate --from redis://a --to sqlite:a.db', /--from must be "sqlite:" and the path/],
    ['migrate --from sqlite:a.db --to sqlite:~/b.db', /--to must be "sqlite:" and the path/],
    ['import animals.csv --format xml', /'xml' is invalid/],
    ['import animals.txt', /is not known: add --format csv or --format ndjson/],
    ['import -', /standard input is not known: add --format/],
    ['serve 8080', /too many arguments/],
  ];
  for (const [args, line] of mistakes)
    test(JSON.stringify(args), async () => {
      expectMistake(await runInProcess(args, unopened), 2, line);
    });

  test('a line break in an argument', async () => {
    expectMistake(await runInProcess(['keys', 'a\nb'], unopened), 2, /unknown command/);
  });
});

describe('a failed command prints one line and exits with 1:', () => {
  const commands: readonly [args: string, line: RegExp][] = [
    ['keys rotate key_none', /there is no key "key_none": "keys list" shows all keys/],
    ['keys create --account Nobody', /there is no account "Nobody": a new account needs a plan/],
    ['accounts set-plan Nobody --plan pro', /there is no account "Nobody": "accounts list" shows all/],
    ['accounts show Nobody', /there is no account "Nobody": "accounts list" shows all accounts/],
    ['accounts suspend Nobody', /there is no account "Nobody"/],
    ['orders export --account Nobody --output a.csv', /there is no account "Nobody"/],
    ['orders list --account Nobody', /there is no account "Nobody"/],
    ['requests --account Nobody', /there is no account "Nobody"/],
    ['webhooks list --account Nobody', /there is no account "Nobody"/],
    ['webhooks enable wh_none', /there is no webhook "wh_none": "webhooks list" shows/],
    ['accounts set-limits Nobody --per-minute 1 --per-day 1', /there is no account "Nobody"/],
    ['keys list --account Nobody', /there is no account "Nobody"/],
    ['audit --account Nobody', /there is no account "Nobody"/],
    ['bans lift key_none', /there is no key "key_none"/],
    ['orders cancel 7', /there is no order "7": see "orders list"/],
    ['pets show 7', /there is no animal "7"/],
    ['pets edit 7 --name Max', /there is no animal "7"/],
    ['import /nowhere/animals.csv', /nothing was imported: \/nowhere\/animals\.csv cannot be read/],
  ];
  for (const json of ['', ' --json'])
    test(`one that names something unknown${json && ', also with --json'}`, async (t) => {
      const { run } = await createWorld(t);
      for (const [args, line] of commands) {
        expectMistake(await run(`${args}${json}`), 1, line);
      }
    });
});

describe('a command that needs an existing store fails with one line and creates none:', () => {
  const commands = `keys create --plan free, keys list, accounts list, accounts show Zoo, bans list, audit, orders list,
    pets show 1, export, vacuum, backup a.db`;
  for (const command of commands.split(/,\s+/))
    test(command, async (t) => {
      const path = join(await makeFolder(t), 'store.db');
      const line = /there is no store .*store\.db: "serve", "import", "migrate" and "restore" create one/;
      expectMistake(await runInProcess(command, `sqlite:${path}`), 1, line);
      assert.equal(existsSync(path), false);
    });

  test('keys list with an empty file as the store', async (t) => {
    const path = join(await makeFolder(t), 'store.db');
    await writeFile(path, '');
    expectMistake(await runInProcess('keys list', `sqlite:${path}`), 1, /there is no store/);
  });
});

describe('an unusable store prints one line and exits with 1:', () => {
  async function assertRefused(databaseUrl: string, line: RegExp, command = 'keys list'): Promise<void> {
    expectMistake(await runInProcess(command, databaseUrl), 1, line);
  }

  test('the address is not a plain path', async () => {
    const line = /^error: wrong settings: DATABASE_URL must be "sqlite:" and the path of a file/;
    for (const address of ['sqlite:./store.db\r', 'sqlite:./a?mode=ro', 'sqlite://./x', 'sqlite:~/x'])
      await assertRefused(address, line);
  });

  test('the path is a folder or below a file, or the file is not a database', async (t) => {
    const folder = await makeFolder(t);
    await mkdir(join(folder, 'folder.db'));
    await writeFile(join(folder, 'text.db'), 'This is a text of more than a hundred bytes. '.repeat(100));
    await assertRefused(`sqlite:${folder}/folder.db`, /the database .*folder\.db cannot be opened: /);
    await assertRefused(`sqlite:${folder}/text.db/store.db`, /text\.db\/store\.db cannot be opened: /);
    await assertRefused(`sqlite:${folder}/text.db`, /cannot be opened: file is not a database/);
  });

  test('the PostgreSQL server does not answer, without a password in the line', async () => {
    for (const host of ['127.0.0.1', 'localhost'])
      await assertRefused(`postgres://user:S3cret@${host}:1/store`, /^(?!.*S3cret).*:1\/store.*REFUSED/);
  });

  test('a store in PostgreSQL has its own tools for the work of this command', async () => {
    const url = 'postgres://127.0.0.1:1/animals';
    await assertRefused(url, /use pg_dump for PostgreSQL/, 'backup a.db');
    await assertRefused(url, /use pg_restore, and then "restore --in-place"/, 'restore a.db');
    await assertRefused(url, /PostgreSQL needs no vacuum: autovacuum does it/, 'vacuum');
  });

  test('Redis does not answer, without a password in the line', async (t) => {
    const { url: DATABASE_URL, print } = await createWorld(t);
    await print('accounts create Zoo --plan free');
    const settings = { DATABASE_URL, REDIS_URL: 'redis://user:S3cret@localhost:1' };
    const line = /^error: the rate limits cannot be read from Redis localhost:1: .*ECONNREFUSED/;
    expectMistake(await runProgram(['accounts', 'show', 'Zoo'], { settings }), 1, line);
  });

  test('the kind of store is unknown, with all other wrong settings in the same line', async () => {
    const settings = { DATABASE_URL: 'mysql://user:S3cret@127.0.0.1/store', PORT: 'http', REDIS_URL: 'x' };
    const line = /^(?!.*S3cret)error: wrong settings: PORT .*; DATABASE_URL .*; REDIS_URL /;
    expectMistake(await runProgram(['serve'], { settings }), 1, line);
  });
});

test('an uncaught error ends a command with one line and exit code 1', async (t) => {
  const folder = await makeFolder(t);
  const ended = await runProgram(['serve'], {
    settings: { DATABASE_URL: `sqlite:${folder}/store.db`, PORT: '0', OPS_PORT: '0', LOG_LEVEL: 'silent' },
    preload: `setImmediate(function fail() {
      if (process.listenerCount('uncaughtException') > 0) throw new Error('out of\\nthe blue');
      setImmediate(fail);
    })`,
  });
  expectMistake(ended, 1, /unexpected: out of the blue/);
});

test('a --since that is no time is refused with every form that it has', async (t) => {
  const { run } = await createWorld(t);
  expectMistake(
    await run('requests --since 2027-13-01'),
    2,
    /a duration, as in 7d, or a date or a time, as in/,
  );
});

for (const status of ['99', '600'])
  test(`the status ${status} is refused with the bounds of a status`, async (t) => {
    const { run } = await createWorld(t);
    expectMistake(await run(`requests --status ${status}`), 2, /from 100 to 599/);
  });

for (const list of ['requests', 'audit'])
  test(`${list} without a hit says that nothing is found`, async (t) => {
    const { print } = await createWorld(t);
    assert.equal(await print(`${list} --since 2100-01-01`), 'nothing found\n');
  });
