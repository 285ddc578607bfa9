import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { hourMs } from '../../src/clock.ts';
import { findPostgres } from '../support/engines.ts';
import { findRedis } from '../support/redis.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { startRelay } from '../support/relay.ts';
import { type Ending, makeFolder } from '../support/service.ts';
import { examineWith, expectFinding } from './examined.ts';

const postgres = await findPostgres();
const redis = await findRedis();

describe('about a PostgreSQL store, the doctor reports', { skip: postgres.skip }, () => {
  test('that it has no tables yet, without creating any', async (t) => {
    const store = await postgres.createEmptyStore(t);
    const findings = await examineWith({ DATABASE_URL: store.url });
    expectFinding(findings, 'store', 'ok', /PostgreSQL \S+ answers, version \d+/);
    expectFinding(findings, 'schema', 'ok', /there are no tables yet/);
    expectFinding(findings, 'writing', 'ok', /can be written/);
    expectFinding(findings, 'durability', 'ok', /on disk before/);
    expectFinding(findings, 'connections', 'ok', /of \d+ connections are open/);
    expectFinding(findings, 'size', 'ok', /the database takes \d+\.\d MiB; autovacuum gives unused/);
    expectFinding(findings, 'clock', 'ok', /the clock of PostgreSQL agrees/);
    const tables = await store.execute(`select 1 from pg_tables where schemaname = 'public'`);
    assert.deepEqual(tables, []);
  });

  test('that REQUIRE_STORE keeps a service from making its tables', async (t) => {
    const { url: DATABASE_URL } = await postgres.createEmptyStore(t);
    const findings = await examineWith({ DATABASE_URL, REQUIRE_STORE: 'true' });
    expectFinding(findings, 'schema', 'problem', /^there are no tables, and REQUIRE_STORE is true$/);
  });

  test('that its schema is current or newer than the program', async (t) => {
    const store = await postgres.createStore(t);
    await store.open();
    expectFinding(await examineWith({ DATABASE_URL: store.url }), 'schema', 'ok', /the newest/);
    await store.execute(`insert into schema_migrations values ('9999-newer', '2030-01-01')`);
    const later = await examineWith({ DATABASE_URL: store.url });
    expectFinding(later, 'schema', 'problem', /newer than this program/);
  });

  test('that its newest row is dated in the future', async (t) => {
    const store = await postgres.createStore(t);
    await store.open();
    await store.execute(
      `insert into accounts (name, plan, created_at_ms) values ('Zoo', 'free', ${Date.now() + hourMs})`,
    );
    const findings = await examineWith({ DATABASE_URL: store.url });
    expectFinding(findings, 'clock', 'problem', /newest row of the store is dated 60 min ahead/);
  });

  for (const [option, check, is, refusal] of [
    [
      'default_transaction_read_only=on',
      'writing',
      /^transactions of this user are read-only$/,
      /are read-only: set default_transaction_read_only to off/,
    ],
    ['synchronous_commit=off', 'commits', /^synchronous_commit is off$/, /is off: set it to on/],
  ] as const)
    test(`that it has ${option}, with the words of a failed start`, async (t) => {
      const store = await postgres.createStore(t);
      await store.open();
      const url = new URL(store.url);
      url.searchParams.set('options', `-c ${option}`);
      expectFinding(await examineWith({ DATABASE_URL: url.href }), check, 'problem', is);
      await assert.rejects(store.open(url.href), refusal);
    });

  test('each right that its user lacks, with the same SQL as a failed start', async (t) => {
    const store = await postgres.createStore(t);
    const user = `animal_store_test_${randomUUID().replaceAll('-', '')}`;
    await store.execute(`create role ${user} login`);
    const url = Object.assign(new URL(store.url), { username: user }).href;
    const database = new URL(url).pathname.slice(1);
    const dropUser = () => store.execute(`drop owned by ${user}; drop role ${user}`);
    const expectLacking = async (is: RegExp) => {
      const findings = await examineWith({ DATABASE_URL: url });
      expectFinding(findings, 'rights', 'problem', is);
      const { todo } = findings.find(({ check }) => check === 'rights') ?? {};
      await assert.rejects(store.open(url), ({ message }: Error) => message.endsWith(`: ${todo}`));
      const [, sql = ''] = /^run "(.*)"$/.exec(todo ?? '') ?? [];
      await store.execute(sql);
    };
    try {
      await store.execute(`grant select on all tables in schema public to ${user};
        grant usage on all sequences in schema public to ${user}; revoke temporary on database ${database} from public;
        revoke execute on function read_timeline from public`);
      await expectLacking(
        /^the user \w+ lacks SELECT, .*DELETE on tables \(accounts, .*and UPDATE on sequences \(.*TEMPORARY for .*EXECUTE on/,
      );
      expectFinding(await examineWith({ DATABASE_URL: url }), 'rights', 'ok', /has all rights/);
      await store.execute(`revoke delete on leases from ${user}`);
      await expectLacking(/^the user \w+ lacks SELECT, INSERT, UPDATE and DELETE on tables \(leases\)$/);
      await store.execute(`revoke select on schema_migrations from ${user}`);
      await expectLacking(/ on tables \(schema_migrations\)$/);
      await store.execute('revoke usage on schema public from public');
      await assert.rejects(store.open(url), /the user \w+ sees no store, and may not create tables: /);
    } finally {
      await dropUser();
    }
  });

  test('that its server does not answer, within seconds', async (t) => {
    const store = await postgres.createStore(t);
    const relay = await startRelay(t, store.url);
    relay.silence();
    const findings = await examineWith({ DATABASE_URL: relay.url });
    expectFinding(findings, 'store', 'problem', /cannot be used: .*timeout/);
  });
});

const examineRedis = async (t: Ending, url: string) =>
  examineWith({ REDIS_URL: url, DATABASE_URL: `sqlite:${await makeFolder(t)}/a.db` });

describe('about Redis, the doctor reports', { skip: redis.skip }, () => {
  test('its response time', async (t) => {
    const findings = await examineRedis(t, (await redis.createSpace(t)).url);
    expectFinding(findings, 'redis', 'ok', /answers in [\d.]+ ms, version \d/);
  });

  test('that its clock agrees with the clock of the machine', async (t) => {
    const findings = await examineRedis(t, (await redis.createSpace(t)).url);
    expectFinding(findings, 'clock', 'ok', /the clock of Redis agrees/);
  });

  test('that it does not answer, within seconds', async (t) => {
    const relay = await startRelay(t, (await redis.createSpace(t)).url);
    relay.silence();
    const findings = await examineRedis(t, relay.url);
    expectFinding(findings, 'redis', 'problem', /cannot be used: Redis does not answer/);
  });
});

describe('about a Redis user with few rights, the doctor reports', { skip: await whyNoRedisServer() }, () => {
  async function examineAs(t: Ending, ...rights: string[]) {
    const server = await startRedisServer(t);
    await server.command('acl', 'setuser', 'few', 'on', '>secret', '~animal-store:*', ...rights);
    return examineRedis(t, server.url.replace('//', '//few:secret@'));
  }

  test('that instances count together without the dangerous commands, but not its settings', async (t) => {
    const findings = await examineAs(t, '+@all', '-@dangerous');
    expectFinding(findings, 'redis', 'ok', /^instances can count together$/);
    expectFinding(findings, 'redis', 'warning', /^appendonly and maxmemory-policy are unknown: .*\binfo\b/);
    expectFinding(findings, 'clock', 'ok', /the clock of Redis agrees/);
  });

  for (const command of ['zadd', 'del', 'set'])
    test(`that instances cannot count together without ${command}`, async (t) => {
      const findings = await examineAs(t, '+@all', `-${command}`);
      expectFinding(findings, 'redis', 'problem', /^instances cannot count together: /);
    });
});

describe('about a misconfigured Redis, the doctor reports', { skip: await whyNoRedisServer() }, () => {
  test('that it evicts keys when its memory is full, forgets them at a restart, or is a replica', async (t) => {
    const server = await startRedisServer(t, '--maxmemory-policy', 'allkeys-lru');
    const findings = await examineRedis(t, server.url);
    expectFinding(findings, 'redis', 'warning', /maxmemory-policy is allkeys-lru/);
    expectFinding(findings, 'redis', 'warning', /^appendonly is off/);
    await server.command('config', 'set', 'appendonly', 'yes');
    expectFinding(await examineRedis(t, server.url), 'redis', 'ok', /^appendonly is on/);
    await server.command('replicaof', '127.0.0.1', '1');
    expectFinding(
      await examineRedis(t, server.url),
      'redis',
      'problem',
      /^instances cannot count together: .*replica/,
    );
  });
});
