import assert from 'node:assert/strict';
import { test } from 'node:test';
import { takesGzip } from '../../../src/http/request/preferences.ts';

for (const header of [
  'gzip',
  'GZip',
  'gzip, deflate, br, zstd',
  'br;q=1.0,gzip;q=0.8 ,\t*;q=0.1',
  'gzip ; q=0.001',
  'gzip;Q=1.',
  '*',
  'identity;q=0.5, *;q=0.1',
  '*;q=0, gzip',
])
  test(`"${header}" accepts gzip`, () => {
    assert.equal(takesGzip(header), true);
  });

for (const header of [
  '',
  'identity',
  'br, deflate',
  'gzip;q=0',
  'GZIP; Q=0.000',
  'gzip;q=0, *',
  '*;q=0',
  'gzip-9, not gzip',
  'gzip;q=',
  'gzip;q=-1',
  'gzip;q=5',
  'gzip;level=9',
])
  test(`"${header}" does not accept gzip`, () => {
    assert.equal(takesGzip(header), false);
  });
