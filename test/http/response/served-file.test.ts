import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseForm, makeServedFile } from '../../../src/http/response/served-file.ts';

const file = await makeServedFile('text', 'text/plain', {});

test('a file is sent compressed only to a client that lists gzip with a weight above 0', () => {
  for (const header of 'gzip|GZip|gzip, br|br;q=1.0,gzip;q=0.8 ,\t*;q=0.1|gzip ; q=0.001|gzip;Q=1.'.split(
    '|',
  ))
    assert.equal(chooseForm(file, header), file.gzipped, header);
  for (const header of [undefined, ...'|br|gzip;q=0|GZIP; Q=0.000|gzip;q=0, *|gzip-9|*|x-gzip'.split('|')])
    assert.equal(chooseForm(file, header), file.plain, String(header));
});
