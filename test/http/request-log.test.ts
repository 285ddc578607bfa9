import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { generateKey } from '../../src/accounts/api-key.ts';
import { startApp } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { createLog } from '../../src/observability/log.ts';
import { exchangeRaw, formatRequest } from '../support/raw-http.ts';
import { createMovableClock, makeFolder, startService } from '../support/service.ts';

/** What is written as a log of requests for such targets, on a terminal. */
async function logOnTerminal(t: TestContext, targets: readonly string[]): Promise<string> {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const config = parseConfig({
    PORT: '0',
    OPS_PORT: '0',
    LOG_REQUESTS: 'all',
    DATABASE_URL: `sqlite:${join(await makeFolder(t), 'animal-store.db')}`,
  });
  const app = await startApp(config, createMovableClock().now, createLog('info', terminal));
  for (const target of targets) await exchangeRaw(t, app.url, formatRequest(`GET ${target}`, {}));
  await app.close();
  terminal.end();
  return await text(terminal);
}

test('a path puts nothing into the log of a terminal that the terminal would obey', async (t) => {
  const strangers = ['%0afake%20line', '%0d%1b%5b2J', '%c2%9b31m', '%e2%80%a8', '%e2%80%ae', '%7f'];
  const logged = await logOnTerminal(
    t,
    strangers.map((stranger) => `/v1/${stranger}`),
  );
  assert.match(logged, /GET \/v1\/\\u\{a\}fake line 401$/m);
  assert.equal(logged.match(/ INFO: GET \/v1\//g)?.length, strangers.length);
  assert.doesNotMatch(logged, /^fake line|[^\P{C}\n]|[\u2028\u2029]/mu);
});

test('a key in a path with a line break is redacted wherever the path stands', async (t) => {
  const service = await startService(t, { LOG_REQUESTS: 'all' });
  const key = generateKey('stg');
  for (const spelling of [key, key.replaceAll('_', '%5F')]) await service.request(null, `/%0a${spelling}%0a`);
  const lines = service
    .readLog()
    .split('\n')
    .filter((line) => line.includes('"status":401'));
  assert.equal(lines.length, 2);
  for (const line of lines) {
    const { path, msg } = JSON.parse(line) as { path: string; msg: string };
    assert.equal(path, '/v1/\\u{a}as_stg_[redacted]\\u{a}');
    assert.equal(msg, `GET ${path} 401`);
  }
});
