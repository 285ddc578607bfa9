import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Config, parseConfig, settings } from '../src/config.ts';
import { OperatorError } from '../src/errors.ts';
import { parseSentinelAddress } from '../src/setting-values.ts';

type SettingName = keyof typeof settings;

function messageOf(environment: Record<string, string>): string {
  try {
    parseConfig(environment);
  } catch (error) {
    assert.ok(error instanceof OperatorError);
    return error.message;
  }
  return assert.fail(`nothing is wrong with ${JSON.stringify(environment)}`);
}

describe('the settings of contract section 8', () => {
  const defaults: Config = {
    host: '127.0.0.1',
    port: 8080,
    opsHost: '127.0.0.1',
    opsPort: 8081,
    environment: 'development',
    publicUrl: null,
    otherEnvironmentUrl: null,
    databaseUrl: 'sqlite:./data/animal-store.db',
    databaseConnections: 10,
    requireStore: false,
    allowedFileSystem: null,
    redisUrl: null,
    drainMs: 0,
    trustProxy: false,
    logLevel: 'info',
    logRequests: 'all',
    corsOrigins: [],
    consoleUrl: null,
    consoleUserHeader: null,
    consoleUserPeers: null,
    consoleUserSecret: null,
    webhookAllowNetworks: ['127.0.0.0/8', '::1'],
    webhookSourceNetworks: [],
    webhookSecretKeys: [],
  };

  test('have the documented defaults, also if the variables are empty', () => {
    assert.deepEqual(parseConfig({}), defaults);
    const empty = Object.fromEntries(Object.keys(settings).map((name) => [name, '']));
    assert.deepEqual(parseConfig(empty), defaults);
  });

  const [key, former] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const keys = [key, former].map((one) => one.toString('base64')).join(', ');
  /** Texts whose values are the texts themselves. */
  const same = (...texts: readonly string[]) => Object.fromEntries(texts.map((text) => [text, text]));
  const readings: Partial<Record<SettingName, Readonly<Record<string, unknown>>>> = {
    HOST: same('0.0.0.0', '::1', 'localhost'),
    PORT: { 0: 0, 65535: 65_535 },
    OPS_HOST: same('::'),
    OPS_PORT: { 1: 1 },
    ENVIRONMENT: same('staging', 'production'),
    PUBLIC_URL: same('https://api.example.com/v1', 'http://localhost:9000/shop/v1'),
    OTHER_ENVIRONMENT_URL: same('https://staging.example.com/v1'),
    DATABASE_URL: same(
      'sqlite:/var/lib/store.db',
      'postgresql://h/d',
      'postgres://u:a%2Cb@h1,[::1]:2/d',
      'postgres://h,i/d?target_session_attrs=read-write&sslmode=verify-full',
      'postgres://u:1%2F%40@h/d?application_name=b&connect_timeout=10&options=-c%20work_mem%3D8MB',
      'postgres://h/d?sslmode=require&channel_binding=require',
      'postgres:///d?host=/var/run/postgresql',
    ),
    REQUIRE_STORE: { true: true, false: false },
    ALLOW_FILE_SYSTEM: same('fuse', 'nfs'),
    REDIS_URL: same('rediss://u:p@h:1/2', 'redis://h:6379', 'redis://h/', 'redis+sentinel://s1:26379/m'),
    DRAIN_SECONDS: { 15: 15_000 },
    TRUST_PROXY: {
      false: false,
      0: false,
      2: 2,
      '10.0.0.0/8, ::1': ['10.0.0.0/8', '::1'],
      '0.0.0.0/1,::/1': ['0.0.0.0/1', '::/1'],
    },
    LOG_LEVEL: same('trace', 'silent'),
    LOG_REQUESTS: same('errors', 'all'),
    CORS_ORIGINS: { 'https://a.example, http://b:8000': ['https://a.example', 'http://b:8000'] },
    WEBHOOK_ALLOW_NETWORKS: { '10.1.0.0/16, fd00::1': ['10.1.0.0/16', 'fd00::1'] },
    WEBHOOK_SOURCE_NETWORKS: { '192.0.2.1, 2001:db8::/64': ['192.0.2.1', '2001:db8::/64'] },
    WEBHOOK_SECRET_KEY: { [keys]: [key, former] },
  };

  for (const [name, values] of Object.entries(readings))
    test(`are read from their variables: ${name}`, () => {
      for (const [text, value] of Object.entries(values))
        assert.deepEqual(parseConfig({ [name]: text })[settings[name as SettingName].name], value, text);
    });

  for (const ENVIRONMENT of ['staging', 'production'])
    describe(`in ${ENVIRONMENT}`, () => {
      test('allow no webhooks to local addresses', () => {
        assert.deepEqual(parseConfig({ ENVIRONMENT }).webhookAllowNetworks, []);
      });

      test('log only failed and slow requests unless LOG_REQUESTS says otherwise', () => {
        assert.equal(parseConfig({ ENVIRONMENT }).logRequests, 'errors');
        assert.equal(parseConfig({ ENVIRONMENT, LOG_REQUESTS: 'all' }).logRequests, 'all');
      });
    });
});

describe('a wrong setting', () => {
  const keyOf = (bytes: number) => Buffer.alloc(bytes).toString('base64');
  const split = (texts: string) => texts.trim().split(/\s+/);
  const wrongs: Record<SettingName, readonly string[]> = {
    HOST: ['a b', '-x', 'http://localhost', '127.0.0.1:80', '[::1]'],
    PORT: ['-1', '65536', '1.5', '0x50', '8080 ', 'http', '1e3', '000080'],
    OPS_HOST: ['*', 'a/b'],
    OPS_PORT: ['x', '99999'],
    ENVIRONMENT: ['prod', 'Development', 'test'],
    PUBLIC_URL: split(`
      example.com/v1 https://example.com https://example.com/v1/ https://example.com/v2 https://example.com/notv1
      https://example.com/v1?x=1 https://example.com/v1? https://example.com/v1#x https://example.com/v1#
      https://user:secret@example.com/v1 ftp://example.com/v1`),
    OTHER_ENVIRONMENT_URL: ['staging.example.com/v1', 'https://staging.example.com', 'staging'],
    DATABASE_URL: [
      ...split(`
      mysql://u:secret@h/d ./store.db sqlite: sqlite::memory: sqlite:file:/tmp/store.db postgres: postgres:d
      postgres://u:12/secret@h/d postgres://u:12?secret@h/d postgres://u:12#secret@h/d
      postgres://h1,/d postgres://h1,:5433/d postgres://h:70000/d postgres://h:0,i/d postgres://h1,H1:5432/d
      postgres://h1,%2Fvar%2Frun%2Fpostgresql/d postgres://h1,h2/d?host=/var/run/postgresql
      postgres://h/d?target_session_attrs=any postgres://h/d?sslmode=allow postgres://h/d?sslmode=verify-ca
      postgres://h/d?pgbouncer=true postgres://h/d?sslmode=verify-full&sslmode=disable postgres://h/d?%0A=1
      postgres://h/d?connect_timeout=0 postgres://h/d?connect_timeout=61 postgres://h/d?connect_timeout=1.5
      postgres://h/d?sslmode=prefer&channel_binding=require postgres://h/d?channel_binding=on`),
      'postgres://h1,h 2/d',
    ],
    DATABASE_CONNECTIONS: ['2', '101', '-4', '4.0', 'x'],
    REQUIRE_STORE: ['yes', '1', 'TRUE'],
    ALLOW_FILE_SYSTEM: ['true', 'NFS', 'ext4'],
    REDIS_URL: split(`
      http://:secret@127.0.0.1:6379 x redis:// 127.0.0.1:6379
      redis://h:6379/prod redis://h/1.5 redis://h/-1 redis://h/1/ rediss://h//
      redis://:p%zz@h:6379 redis://a%4:1@h:6379 redis://u:12?secret@h redis://u:12#secret@h
      redis+sentinel://s1:26379 redis+sentinel://s1:26379/ redis+sentinel:///m redis+sentinel://s1,,s2/m
      redis+sentinel://s1:26379,s1/m redis+sentinel://s1:65536/m redis+sentinel://s1:0/m
      redis+sentinel://s1/m/1 redis+sentinel://s1?m redis+sentinel://:p%zz@s1/m`),
    DRAIN_SECONDS: ['-1', '1.5', '3601', '10s', '1e2'],
    TRUST_PROXY: split(`
      true -1 100 a 10.0.0 10.0.0.1, 10.0.0.1/8/8 10.0.0.0/33 ::/129 0.0.0.0/0 ::/0 10.0.0.1,::/000 fe80::1%eth0`),
    LOG_LEVEL: ['verbose', 'INFO', '30'],
    LOG_REQUESTS: ['none', 'true', '5xx'],
    CONSOLE_URL: ['https://ops.example.com/console/', 'https://ops.example.com/v1'],
    CONSOLE_USER_HEADER: ['X Forwarded User', 'x_user', 'Cookie', 'Authorization', 'Host'],
    CONSOLE_USER_PEERS: ['0.0.0.0/0', 'proxy.example.com'],
    CONSOLE_USER_SECRET: ['short', 'a b'.repeat(20)],
    CORS_ORIGINS: split(`
      * https://* https://*.example.com http://a.example:* https://a.example,https://*.b.example
      null example.com https://a.example/ https://a.example,x file:///x`),
    WEBHOOK_ALLOW_NETWORKS: ['10.0.0.0/0', '::/0', 'example.com', '10.0.0.0/33', '10.1', 'all', '10.0.0.1;'],
    WEBHOOK_SOURCE_NETWORKS: [
      '0.0.0.0/0',
      'hooks.example.com',
      '192.0.2.1/33',
      '192.0.2.1,',
      '2001:db8::/129',
    ],
    WEBHOOK_SECRET_KEY: ['secret', keyOf(31), keyOf(33), `${keyOf(32)},`, Buffer.alloc(32).toString('hex')],
  };
  for (const [setting, texts] of Object.entries(wrongs))
    test(`${setting} is reported with its name and its rule`, () => {
      const rule = new RegExp(`^wrong settings: ${setting} must be [^;\n]+$`);
      for (const text of texts) assert.match(messageOf({ [setting]: text }), rule, text);
    });

  test('is reported if only some of the settings of the proxy are set', () => {
    assert.match(messageOf({ CONSOLE_USER_HEADER: 'X-User' }), /CONSOLE_USER_SECRET must be set together$/);
  });

  test('is reported with the rule that an address with several hosts breaks', () => {
    const rules = {
      'postgres://h1,/d': /without an empty host$/,
      'postgres://h1,h2:70000/d': /ports are from 1 to 65535$/,
      'postgres://h1,h2,h1/d': /names h1:5432 once$/,
      'postgres://h1,%2Frun/d': /with several servers or with one socket, not with both$/,
      'postgres://h1,h2/d?target_session_attrs=standby':
        /target_session_attrs is one of read-write, primary$/,
    };
    for (const [text, rule] of Object.entries(rules)) assert.match(messageOf({ DATABASE_URL: text }), rule);
  });

  test('names the parameter of a PostgreSQL address that is unknown or repeated', () => {
    const problem = (name: string) =>
      new RegExp(`a postgres:// address without the parameter ${name}: it may`);
    assert.match(messageOf({ DATABASE_URL: 'postgres://h/d?pgbouncer=transaction' }), problem('pgbouncer'));
    assert.match(messageOf({ DATABASE_URL: 'postgres://h/d?password=a&b' }), problem('password'));
    assert.match(messageOf({ DATABASE_URL: 'postgres://h/d?options=a&options=b' }), problem('options'));
  });

  test('is reported together with all other wrong settings, in one line', () => {
    const texts = Object.entries(wrongs).map(([name, [text]]) => [name, text ?? '']);
    const message = messageOf(Object.fromEntries(texts));
    assert.ok(!message.includes('\n'));
    const named = [...message.matchAll(/([A-Z_]+) must be /g)].map(([, name]) => name);
    assert.deepEqual(named, Object.keys(settings));
  });

  test('is reported without its value, because the value may be a secret', () => {
    for (const name of Object.keys(settings))
      for (const value of ['S3cret!/', 'mysql://user:S3cret!/@host/d', 'redis://:S3cret!/@host', '-S3cret!/'])
        assert.doesNotMatch(messageOf({ [name]: value }), /S3cret/);
  });
});

test('the public port and the operator port differ unless both are free ports', () => {
  const ports = { PORT: '9000', OPS_PORT: '9000' };
  const overlaps = [ports, { ...ports, HOST: '0.0.0.0' }, { ...ports, OPS_HOST: '::' }];
  for (const wrong of [...overlaps, { PORT: '8081' }, { OPS_PORT: '8080' }])
    assert.equal(messageOf(wrong), 'wrong settings: OPS_PORT must differ from PORT');
  assert.equal(parseConfig({ ...ports, HOST: '10.0.0.1' }).opsPort, 9000);
  assert.equal(parseConfig({ PORT: '0', OPS_PORT: '0' }).opsPort, 0);
});

test('an address of Sentinels is read with its default port, its user and its password', () => {
  const parsed = parseSentinelAddress('redis+sentinel://u:s%40@s1,s2:26380,[::1]:3/my.master-1');
  const nodes = [
    { host: 's1', port: 26_379 },
    { host: 's2', port: 26_380 },
    { host: '::1', port: 3 },
  ];
  assert.deepEqual(parsed, { nodes, name: 'my.master-1', username: 'u', password: 's@' });
});
