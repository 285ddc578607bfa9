import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatSecond, formatTime } from '../src/cli/output.ts';
import { readTime } from '../src/format.ts';
import { formatTime as formatInConsole } from '../src/operator/console/pages/format.ts';

const ms = Date.UTC(2027, 0, 11, 9, 30);

test('a time is read in every form in which the commands and the console print it', () => {
  const printed = [formatTime(ms), formatSecond(ms), formatInConsole(ms), new Date(ms).toISOString()];
  for (const text of printed) assert.equal(readTime(text), ms, text);
});

test('a time without an offset is in UTC', () => {
  assert.equal(readTime('2027-01-11'), Date.UTC(2027, 0, 11));
  assert.equal(readTime('2027-01-11 09:30'), ms);
  assert.equal(readTime('2027-01-11T10:30+01:00'), ms);
});

test('a text that is no time is not read', () => {
  for (const text of [
    '',
    'soon',
    '1970',
    '2027-02-30',
    '2027-02-30 10:00',
    '2027-02-01T25:00Z',
    '2027-01-11Z',
  ])
    assert.equal(readTime(text), null, text);
});
