import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { settings } from '../src/config.ts';
import { listMisnamed, readSecretFiles, secretSettings } from '../src/setting-sources.ts';
import { makeFolder } from './support/service.ts';

test('a secret comes from the file that its setting names, without the end of the line', async (t) => {
  const file = join(await makeFolder(t), 'redis');
  await writeFile(file, 'redis://:secret@127.0.0.1\n');
  assert.equal(readSecretFiles({ REDIS_URL_FILE: file })['REDIS_URL'], 'redis://:secret@127.0.0.1');
});

test('a secret in two places, or in a file that is not there, is refused by name', () => {
  const variables = { REDIS_URL_FILE: '/no/such/file', DATABASE_URL: 'sqlite:a', DATABASE_URL_FILE: '/b' };
  const message =
    /^wrong settings: DATABASE_URL and DATABASE_URL_FILE are both set; .*REDIS_URL_FILE cannot be read: ENOENT/;
  assert.throws(() => readSecretFiles(variables), { name: 'OperatorError', message });
});

for (const content of ['', '\n'])
  test(`a file of a secret that is empty, such as ${JSON.stringify(content)}, is refused by name`, async (t) => {
    const file = join(await makeFolder(t), 'secret');
    await writeFile(file, content);
    for (const name of secretSettings)
      assert.throws(() => readSecretFiles({ [`${name}_FILE`]: file }), {
        name: 'OperatorError',
        message: `wrong settings: ${name}_FILE names an empty file`,
      });
  });

test('a secret that is set empty beside its file is that of the file', async (t) => {
  const file = join(await makeFolder(t), 'database');
  await writeFile(file, 'sqlite:a.db');
  const variables = readSecretFiles({ DATABASE_URL: '', DATABASE_URL_FILE: file });
  assert.equal(variables['DATABASE_URL'], 'sqlite:a.db');
});

test('every setting that is named a secret may be in a file', () => {
  const named = Object.keys(settings).filter((name) => name.includes('SECRET'));
  assert.ok(named.length > 0);
  const others = named.filter((name) => !secretSettings.some((secret) => secret === name));
  assert.deepEqual(others, []);
});

test('a variable that looks like a setting is named with it', () => {
  const names = Object.keys(settings);
  const given = {
    LOG_REQUEST: 'all',
    DATABSE_URL: 'x',
    HOSTNAME: 'a',
    DATABASE_URL: 'x',
    REDIS_URL_FILE: 'f',
  };
  assert.deepEqual(listMisnamed(given, names), [
    { variable: 'LOG_REQUEST', meant: 'LOG_REQUESTS' },
    { variable: 'DATABSE_URL', meant: 'DATABASE_URL' },
  ]);
});
