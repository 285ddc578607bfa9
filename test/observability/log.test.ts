import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { generateKey } from '../../src/accounts/api-key.ts';
import { createLog } from '../../src/observability/log.ts';
import { recordLog } from '../support/recorded-log.ts';

test('an error is logged without the keys in its message, its stack and its causes', () => {
  const { log, findLines } = recordLog();
  const key = generateKey('live');
  const cause = new AggregateError([new Error(`third ${key}`)], `second ${key}`);
  log.error({ err: new Error(`first ${key}`, { cause }) }, 'it failed');
  log.error({ err: cause }, 'it failed');
  log.error({ err: `thrown ${key}` }, 'it failed');
  const told = JSON.stringify(findLines());
  assert.ok(!told.includes(key.slice(-8)));
  for (const part of ['first', 'second', 'third', 'thrown'])
    assert.ok(told.includes(`${part} as_live_[redacted]`), part);
});

test('an error is logged with its type, message, stack and code, and without its other fields', () => {
  const { log, findLines } = recordLog();
  const err = Object.assign(new TypeError('no'), { code: '22P02', parameters: ['secret'], query: 'select' });
  log.error({ err }, 'it failed');
  const [line] = findLines();
  assert.deepEqual(line?.['err'], { type: 'TypeError', message: 'no', stack: err.stack, code: '22P02' });
});

test('a fatal line and all lines before it are written synchronously', () => {
  const output = new PassThrough();
  const log = createLog('info', output);
  log.info('first');
  log.fatal('last');
  assert.match(String(output.read()), /"first".*\n.*"last".*\n$/);
});
