import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { generateKey } from '../../src/accounts/api-key.ts';
import {
  bufferLines,
  createLineBudget,
  createLog,
  exposeDroppedLines,
  waitingCharactersMax,
} from '../../src/observability/log.ts';
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

test('only the type, message, stack and code of an error are logged', () => {
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

/** Creates a buffer in front of an output whose writes end only when the test calls `endWrite`. */
function openHeld() {
  const writes: string[] = [];
  const reports: number[] = [];
  const held: ((error?: Error) => void)[] = [];
  const output = {
    writableLength: 0,
    write(text: string, done: (error?: Error) => void) {
      writes.push(text);
      output.writableLength += text.length;
      held.push((error) => {
        output.writableLength -= text.length;
        done(error);
      });
    },
  };
  const lines = bufferLines(output, (count) => {
    reports.push(count);
    lines.write(`report ${count}\n`);
  });
  return { lines, writes, reports, endWrite: (error?: Error) => held.shift()?.(error) };
}

const kilobyte = `${'x'.repeat(1_023)}\n`;
const linesMax = waitingCharactersMax / kilobyte.length;

test('the lines of one event loop turn are written at once', async () => {
  const { lines, writes } = openHeld();
  for (const line of ['a\n', 'b\n', 'c\n']) lines.write(line);
  assert.deepEqual(writes, []);
  await nextTurn();
  assert.deepEqual(writes, ['a\nb\nc\n']);
});

test('the lines that a stall drops beyond a bounded number of characters are reported once', async () => {
  const { lines, writes, reports, endWrite } = openHeld();
  for (const beyond of [3, 5]) {
    writes.length = 0;
    lines.write('first\n');
    await nextTurn();
    for (let line = 0; line < linesMax + beyond; line += 1) lines.write(kilobyte);
    for (let write = 0; write < 2; write += 1) endWrite();
    await nextTurn();
    const lengths = writes.map(({ length }) => length);
    assert.deepEqual(lengths, ['first\n'.length, waitingCharactersMax, `report ${beyond}\n`.length]);
    endWrite();
  }
  assert.deepEqual(reports, [3, 5]);
  assert.equal(lines.countDropped(), 8);
});

test('a log and its metrics tell how many lines a stalled reader lost', async () => {
  const output = new PassThrough();
  const log = createLog('info', output);
  const registry = new Registry();
  exposeDroppedLines(registry, log);
  for (let line = 0; line < 3 * linesMax; line += 1) log.info(kilobyte);
  const dropped = log.countDropped();
  assert.ok(dropped > 0);
  assert.match(await registry.metrics(), new RegExp(`log_lines_dropped_total ${dropped}$`, 'm'));
  let text = '';
  for await (const chunk of output) {
    text += chunk;
    if (text.includes(`"dropped":${dropped}`)) break;
  }
  const told = text.split('\n').find((line) => line.includes('"dropped":')) ?? '';
  assert.match(told, /"level":50,/);
});

test('a reader that does not stall gets every line, even if one turn writes more than the buffer holds', async () => {
  const output = new PassThrough();
  let received = 0;
  output.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  const lines = bufferLines(output, () => assert.fail('a line was dropped'));
  for (let line = 0; line < linesMax + 10; line += 1) lines.write(kilobyte);
  await nextTurn();
  await nextTurn();
  assert.equal(received, (linesMax + 10) * kilobyte.length);
  assert.equal(lines.countDropped(), 0);
});

test('the dropped lines of a failed write are reported after the next successful write', async () => {
  const { lines, reports, endWrite } = openHeld();
  for (const line of ['a\n', 'b\n']) lines.write(line);
  await nextTurn();
  endWrite(new Error('ENOSPC'));
  assert.deepEqual([lines.countDropped(), reports], [2, []]);
  lines.write('c\n');
  await nextTurn();
  endWrite();
  assert.deepEqual([lines.countDropped(), reports], [2, [2]]);
});

test('the lines beyond the budget of a second are omitted but counted in the next line', () => {
  let nowMs = 0;
  const spend = createLineBudget(2, () => nowMs);
  const spendTimes = (length: number) => Array.from({ length }, () => spend());
  assert.deepEqual(spendTimes(5), [0, 0, null, null, null]);
  nowMs = 1_000;
  assert.deepEqual(spendTimes(3), [3, 0, null]);
});
