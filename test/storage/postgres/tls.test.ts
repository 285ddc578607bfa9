import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chown, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { reasonOf } from '../../../src/errors.ts';
import { openDatabase } from '../../../src/storage/open-database.ts';
import { createPostgresPool } from '../../../src/storage/postgres/pool.ts';
import {
  type PostgresServer,
  startPostgresCluster,
  whyNoPostgresCluster,
} from '../../support/postgres-cluster.ts';
import { eventually } from '../../support/redis-server.ts';
import { makeFolder } from '../../support/service.ts';

const run = promisify(execFile);

/** Creates a certificate and its key. Returns the path of the certificate. */
async function createCertificate(path: string, name: string, ...options: readonly string[]): Promise<string> {
  const subject = ['-subj', `/CN=${name}`, '-days', '2', '-nodes', '-newkey', 'rsa:2048'];
  await run('openssl', [
    'req',
    '-x509',
    ...subject,
    ...options,
    '-keyout',
    `${path}.key`,
    '-out',
    `${path}.crt`,
  ]);
  return `${path}.crt`;
}

/** Turns TLS on, with a certificate for 127.0.0.1 alone. */
async function turnOn(server: PostgresServer, authority: string): Promise<void> {
  const path = join(server.data, 'server');
  const sign = ['-CA', authority, '-CAkey', authority.replace(/crt$/, 'key')];
  await createCertificate(path, 'server', '-addext', 'subjectAltName=IP:127.0.0.1', ...sign);
  const { uid, gid } = await stat(server.data);
  for (const ending of ['key', 'crt']) await chown(`${path}.${ending}`, uid, gid);
  await server.alterSystem('set ssl = on');
}

/** Returns whether a connection uses TLS, or why there is none. */
async function ask(url: string): Promise<boolean | string> {
  const pool = createPostgresPool(url);
  try {
    const sql = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
    return (await pool.read((client) => client.query<{ ssl: boolean }>(sql))).rows[0]?.ssl ?? 'no answer';
  } catch (error) {
    return reasonOf((error as Error).cause);
  } finally {
    await pool.close();
  }
}

test('a connection to PostgreSQL uses TLS as sslmode says', { skip: whyNoPostgresCluster() }, async (t) => {
  const warnings: Error[] = [];
  const warn = (warning: Error) => warnings.push(warning);
  process.on('warning', warn);
  t.after(() => process.off('warning', warn));
  const folder = await makeFolder(t);
  const createAuthority = (name: string) => createCertificate(join(folder, name), name);
  const [own, other] = [await createAuthority('own'), await createAuthority('other')];
  const { primary } = await startPostgresCluster(t);

  async function expect(parameters: string, answer: boolean | RegExp, host = '127.0.0.1'): Promise<void> {
    const got = await ask(`${primary.url.replace('127.0.0.1', host)}${parameters}`);
    if (answer instanceof RegExp) assert.match(String(got), answer, parameters);
    else assert.equal(got, answer, parameters);
  }

  await expect('', false);
  await expect('?sslmode=prefer', false);
  await expect('?sslmode=require', /does not support SSL/);
  await turnOn(primary, own);
  await eventually(async () => (await ask(`${primary.url}?sslmode=require`)) === true);
  await expect('', false);
  await expect('?sslmode=disable', false);
  await expect('?sslmode=prefer', true);
  await expect(`?sslmode=require&sslrootcert=${own}`, true);
  await expect(`?sslmode=require&sslrootcert=${other}`, /certificate/);
  await expect(`?sslmode=verify-ca&sslrootcert=${own}`, true, 'localhost');
  await expect(`?sslmode=verify-ca&sslrootcert=${other}`, /certificate/);
  await expect(`?sslmode=verify-full&sslrootcert=${own}`, true);
  await expect(`?sslmode=verify-full&sslrootcert=${own}`, /does not match/, 'localhost');
  await expect('?sslmode=verify-full', /certificate/);
  await assert.rejects(
    openDatabase(`${primary.url}?sslmode=verify-full&sslrootcert=${folder}/none`),
    /ENOENT/,
  );
  await (await openDatabase(`${primary.url}?sslmode=prefer`)).close();
  assert.deepEqual(warnings, []);
});

test('channel_binding=require refuses a server without SCRAM and channel binding', {
  skip: whyNoPostgresCluster(),
}, async (t) => {
  const { primary } = await startPostgresCluster(t);
  await turnOn(primary, await createCertificate(join(await makeFolder(t), 'own'), 'own'));
  const rules = join(primary.data, 'pg_hba.conf');
  const ways = ['scram-sha-256', 'md5', 'password'];
  const lines = ways.map((way) => `hostssl all "${way}" 127.0.0.1/32 ${way}\n`);
  await writeFile(rules, [...lines, await readFile(rules, 'utf8')].join(''));
  for (const way of [...ways, 'trust'])
    await primary.execute(`set password_encryption = '${way === 'md5' ? way : 'scram-sha-256'}';
      create role "${way}" login password 'secret'`);
  await primary.execute('select pg_reload_conf()');

  const signIn = (way: string, binding: string) => {
    const url = new URL(`${primary.url}?sslmode=require&channel_binding=${binding}`);
    [url.username, url.password] = [way, 'secret'];
    return ask(url.href);
  };
  await eventually(async () => (await signIn('password', 'disable')) === true);
  assert.equal(await signIn('scram-sha-256', 'require'), true);
  for (const way of ['md5', 'password', 'trust']) {
    assert.match(String(await signIn(way, 'require')), /the server offers no channel binding/, way);
    assert.equal(await signIn(way, 'prefer'), true, way);
  }
});
