import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { type Ended, runProgram } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';
import { runInProcess } from './run-command-line.ts';

/** Expects one line on standard error that begins with `error: `, and nothing on standard output. */
function assertOneLine({ stdout, stderr }: Pick<Ended, 'stdout' | 'stderr'>): void {
  assert.match(stderr, /^error: [^\n]+\n$/);
  assert.equal(stdout, '');
}

describe('a usage error prints one line and exits with 2:', () => {
  const mistakes: readonly [args: string, line: RegExp][] = [
    ['bogus', /unknown command 'bogus'/],
    ['keys bogus', /unknown command 'bogus'/],
    ['help bogus', /unknown command 'bogus'/],
    ['help keyz', /unknown command 'keyz' \(Did you mean keys\?\)/],
    ['keys help bogus', /unknown command 'bogus'/],
    ['--bogus', /unknown option '--bogus'/],
    ['keyz', /unknown command 'keyz' \(Did you mean keys\?\)/],
    ['keys create --plam free', /unknown option '--plam' \(Did you mean --plan\?\)/],
    ['keys list --bogus', /unknown option '--bogus'/],
    ['keys list surplus', /too many arguments/],
    ['keys create', /a new account needs --plan/],
    ['keys create --plan', /argument missing/],
    ['keys create --plan gold', /'gold' is invalid\. Allowed choices are free, pro, business, enterprise/],
    ['keys create --plan Free', /'Free' is invalid/],
    ['keys create --plan free --per-minute 5', /plan free has fixed limits/],
    ['keys create --plan enterprise', /plan enterprise needs both per-minute and per-day/],
    ['keys create --plan enterprise --per-day 5', /plan enterprise needs both per-minute and per-day/],
    ['keys create --plan enterprise --per-day 5 --per-minute 0', /'0' is invalid.*from 1 to 1000000000000/],
    ['keys create --plan enterprise --per-day 5 --per-minute 1.5', /'1\.5' is invalid/],
    ['keys create --plan enterprise --per-day 5 --per-minute 1000000000001', /is invalid/],
    [
      'keys create --account Zoo --per-minute 5',
      /--per-minute, --per-day and --open-holds need --plan enterprise/,
    ],
    [
      'keys create --plan free --scopes pets:delete',
      /scopes must be "all" or a comma-separated list of pets:read, pets:write/,
    ],
    ['keys create --plan free --scopes ,', /scopes must be "all" or a comma-separated list/],
    ['keys create --plan free --expires-in 0d', /It must be at least one second/],
    ['keys create --plan free --expires-in 30', /'30' is invalid.*as in 30d/],
    ['keys create --plan free --expires-in -1d', /is invalid/],
    ['keys create --plan free --expires-in 1.5h', /is invalid/],
    ['keys create --plan free --expires-in 101y', /is invalid/],
    ['keys create --plan free --expires-in 36501d', /at most 100 years/],
    [
      'keys create --plan free --account \x1b[31mred',
      /'\\u\{1b\}\[31mred' is invalid\. An account name must/,
    ],
    ['keys rotate', /missing required argument 'id'/],
    ['keys rotate key_x --overlap soon', /'soon' is invalid/],
    ['keys revoke', /missing required argument 'id'/],
    ['accounts set-plan', /missing required argument 'account'/],
    ['accounts create Zoo', /required option '--plan <plan>' not specified/],
    ['accounts rename Zoo', /missing required argument 'name'/],
    ['accounts rename Zoo \x07', /An account name must/],
    ['accounts rename Zoo ..', /An account name must .* and must not be "\." or "\.\."/],
    ['accounts suspend', /missing required argument 'account'/],
    ['bans lift', /missing required argument 'key'/],
    ['audit --action account.made', /'account\.made' is invalid/],
    ['audit --since yesterday', /'yesterday' is invalid.*as in 30d/],
    ['restore', /missing required argument 'file'/],
    ['accounts set-plan Zoo', /required option '--plan <plan>' not specified/],
    ['accounts set-plan Zoo --plan free --per-day 5', /plan free has fixed limits/],
    ['import', /missing required argument 'file'/],
    ['import animals.csv --format xml', /'xml' is invalid/],
    ['import animals.txt', /is not known: add --format csv or --format ndjson/],
    ['export --json', /--json needs --output FILE/],
    ['serve 8080', /too many arguments/],
  ];
  for (const [args, line] of mistakes)
    test(JSON.stringify(args), async (t) => {
      const folder = await makeFolder(t);
      const ended = await runInProcess(args.split(' '), `sqlite:${join(folder, 'store.db')}`);
      assert.equal(ended.code, 2);
      assertOneLine(ended);
      assert.match(ended.stderr, line);
    });

  test('a line break in an argument', async (t) => {
    const folder = await makeFolder(t);
    const ended = await runInProcess(['keys', 'a\nb'], `sqlite:${join(folder, 'store.db')}`);
    assert.equal(ended.code, 2);
    assertOneLine(ended);
  });
});

describe('a failed command prints one line and exits with 1:', () => {
  const orders: readonly [args: string, line: RegExp][] = [
    ['keys rotate key_none', /there is no key "key_none": "keys list" shows all keys/],
    ['keys revoke key_none', /there is no key "key_none"/],
    ['keys create --account Nobody', /there is no account "Nobody": a new account needs a plan/],
    [
      'accounts set-plan Nobody --plan pro',
      /there is no account "Nobody": "accounts list" shows all accounts/,
    ],
    ['accounts show Nobody', /there is no account "Nobody": "accounts list" shows all accounts/],
    ['accounts rename Nobody Other', /there is no account "Nobody"/],
    ['accounts suspend Nobody', /there is no account "Nobody"/],
    ['accounts resume Nobody', /there is no account "Nobody"/],
    ['keys list --account Nobody', /there is no account "Nobody"/],
    ['audit --account Nobody', /there is no account "Nobody"/],
    ['bans lift key_none', /there is no key "key_none"/],
    ['orders cancel 7', /there is no order "7": see "orders list"/],
    ['import /nowhere/animals.csv', /nothing was imported: \/nowhere\/animals\.csv cannot be read/],
  ];
  for (const [args, line] of orders)
    for (const json of ['', ' --json'])
      test(`${args}${json}`, async (t) => {
        const folder = await makeFolder(t);
        const url = `sqlite:${join(folder, 'store.db')}`;
        await runInProcess(['migrate'], url);
        const ended = await runInProcess(`${args}${json}`.split(' '), url);
        assert.equal(ended.code, 1);
        if (!args.startsWith('import')) assertOneLine(ended);
        assert.match(ended.stderr, line);
      });

  test('a plan that differs from the plan of the account', async (t) => {
    const url = `sqlite:${join(await makeFolder(t), 'store.db')}`;
    await runInProcess(['migrate'], url);
    await runInProcess(['keys', 'create', '--plan', 'pro', '--account', 'Zoo'], url);
    const ended = await runInProcess(['keys', 'create', '--plan', 'free', '--account', 'Zoo'], url);
    assert.equal(ended.code, 1);
    assertOneLine(ended);
    assert.match(ended.stderr, /"Zoo" already has a plan \(pro\)/);
  });
});

describe('a command that needs an existing store fails with one line and creates none:', () => {
  const commands = [
    'keys create --plan free',
    'keys list',
    'accounts list',
    'accounts show Zoo',
    'bans list',
    'audit',
    'orders list',
    'pets show 1',
    'export',
  ];
  for (const command of commands)
    test(command, async (t) => {
      const path = join(await makeFolder(t), 'store.db');
      const ended = await runInProcess(command.split(' '), `sqlite:${path}`);
      assert.equal(ended.code, 1);
      assertOneLine(ended);
      assert.match(
        ended.stderr,
        /there is no store .*store\.db: "serve", "import", "migrate" and "restore" create one/,
      );
      assert.equal(existsSync(path), false);
    });

  test('keys list with an empty file as the store', async (t) => {
    const path = join(await makeFolder(t), 'store.db');
    await writeFile(path, '');
    const ended = await runInProcess(['keys', 'list'], `sqlite:${path}`);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /there is no store/);
  });
});

describe('an unusable store prints one line and exits with 1:', () => {
  async function assertRefused(databaseUrl: string, line: RegExp): Promise<void> {
    const ended = await runProgram(['keys', 'list'], { settings: { DATABASE_URL: databaseUrl } });
    assert.equal(ended.code, 1);
    assertOneLine(ended);
    assert.match(ended.stderr, line);
  }

  test('the path is a folder', async (t) => {
    const folder = await makeFolder(t);
    await mkdir(join(folder, 'store.db'));
    await assertRefused(`sqlite:${folder}/store.db`, /the database .*store\.db cannot be opened: /);
  });

  test('the path is below a file', async (t) => {
    const folder = await makeFolder(t);
    await writeFile(join(folder, 'file'), '');
    await assertRefused(`sqlite:${folder}/file/store.db`, /cannot be opened: /);
  });

  test('the file is not a database', async (t) => {
    const folder = await makeFolder(t);
    await writeFile(join(folder, 'store.db'), 'This is a text of more than a hundred bytes. '.repeat(100));
    await assertRefused(`sqlite:${folder}/store.db`, /cannot be opened: file is not a database/);
  });

  test('the schema is newer than the program', async (t) => {
    const path = join(await makeFolder(t), 'store.db');
    await runInProcess(['migrate'], `sqlite:${path}`);
    const database = new DatabaseSync(path);
    database.exec(`insert into schema_migrations values ('9999-newer', '2030-01-01T00:00:00.000Z')`);
    database.close();
    await assertRefused(`sqlite:${path}`, /schema is newer than this program: it has "9999-newer"/);
  });

  test('the PostgreSQL server does not answer, and the line shows no password', async () => {
    await assertRefused('postgres://user:S3cret@127.0.0.1:1/store', /^(?!.*S3cret).*ECONNREFUSED/);
  });

  test('Redis does not answer, and the line shows no password', async (t) => {
    const DATABASE_URL = `sqlite:${join(await makeFolder(t), 'store.db')}`;
    await runInProcess(['migrate'], DATABASE_URL);
    await runInProcess(['accounts', 'create', 'Zoo', '--plan', 'free'], DATABASE_URL);
    const settings = { DATABASE_URL, REDIS_URL: 'redis://user:S3cret@localhost:1' };
    const ended = await runProgram(['accounts', 'show', 'Zoo'], { settings });
    assert.equal(ended.code, 1);
    assertOneLine(ended);
    assert.match(
      ended.stderr,
      /^error: the rate limits cannot be read from Redis localhost:1: .*ECONNREFUSED/,
    );
  });

  test('the kind of store is unknown, and the line also names all other wrong settings', async () => {
    const settings = { DATABASE_URL: 'mysql://user:S3cret@127.0.0.1/store', PORT: 'http', REDIS_URL: 'x' };
    const ended = await runProgram(['serve'], { settings });
    assert.equal(ended.code, 1);
    assertOneLine(ended);
    assert.match(ended.stderr, /^error: wrong settings: PORT .*; DATABASE_URL .*; REDIS_URL /);
    assert.ok(!ended.stderr.includes('S3cret'));
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
  assert.equal(ended.code, 1);
  assertOneLine(ended);
  assert.match(ended.stderr, /unexpected: out of the blue/);
});
