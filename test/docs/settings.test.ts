import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rememberedKeysMax } from '../../src/accounts/key-verifier.ts';
import { secondMs } from '../../src/clock.ts';
import { settings } from '../../src/config.ts';
import { jsonDepthMax } from '../../src/exact-json.ts';
import {
  chunkExtensionBytesMax,
  connectionsMax,
  defaultTimeouts,
  headerBytesMax,
  headersMax,
} from '../../src/http/http-server.ts';
import { waitingBytesMax, waitingRequestsMax } from '../../src/http/in-turn.ts';
import { bodyBytesMax } from '../../src/http/json-body.ts';
import { readyBytesMax } from '../../src/http/ready-answers.ts';
import { slowRequestMs } from '../../src/http/request-log.ts';
import { addressesMax } from '../../src/limits/counters-memory.ts';
import { startLockMsMax } from '../../src/storage/postgres.ts';
import { waitingTasksMax } from '../../src/storage/postgres-pool.ts';
import { waitingWorksMax, writeWaitMsMax } from '../../src/storage/sqlite-writer.ts';
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
    headersMax.toLocaleString('en'),
    bytes(bodyBytesMax),
    bytes(chunkExtensionBytesMax),
    `${jsonDepthMax} levels`,
    seconds(defaultTimeouts.headersMs),
    seconds(defaultTimeouts.requestMs),
    seconds(defaultTimeouts.keepAliveMs),
    seconds(defaultTimeouts.untakenMs),
    waitingRequestsMax.toLocaleString('en'),
    `${waitingBytesMax / 2 ** 20} MiB`,
    connectionsMax.toLocaleString('en'),
    waitingWorksMax.toLocaleString('en'),
    seconds(writeWaitMsMax),
    seconds(startLockMsMax),
    waitingTasksMax.toLocaleString('en'),
    addressesMax.toLocaleString('en'),
    rememberedKeysMax.toLocaleString('en'),
    bytes(readyBytesMax),
    seconds(slowRequestMs),
  ]);
});
