import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secondMs } from '../../src/clock.ts';
import { settings } from '../../src/config.ts';
import { jsonDepthMax } from '../../src/exact-json.ts';
import { defaultTimeouts, headerBytesMax } from '../../src/http/http-server.ts';
import { bodyBytesMax } from '../../src/http/json-body.ts';
import { slowRequestMs } from '../../src/http/request-log.ts';
import { readDocument, readTable } from './markdown.ts';

const document = await readDocument('docs/settings.md');

test('docs/settings.md lists every setting, and no other, as the program reads it', () => {
  const listed = readTable(document, 'Environment variables');
  const actual = Object.entries(settings).map(([name, setting]) => [
    `\`${name}\``,
    setting.type,
    setting.default ? `\`${setting.default}\`` : '',
    setting.sentence,
  ]);
  assert.deepEqual(listed, actual);
});

test('docs/settings.md tells the fixed bounds as the program holds them', () => {
  const seconds = (ms: number) => `${ms / secondMs} s`;
  const bytes = (count: number) => `${count.toLocaleString('en')} bytes`;
  const listed = readTable(document, 'Fixed bounds').map(([, value]) => value);
  assert.deepEqual(listed, [
    bytes(headerBytesMax),
    bytes(bodyBytesMax),
    `${jsonDepthMax} levels`,
    seconds(defaultTimeouts.headersMs),
    seconds(defaultTimeouts.requestMs),
    seconds(defaultTimeouts.keepAliveMs),
    seconds(slowRequestMs),
  ]);
});
