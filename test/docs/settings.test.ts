import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { lookUpWaitMsMax, spentLane, strangersLane } from '../../src/accounts/key-lookup.ts';
import { rememberedKeysMax } from '../../src/accounts/key-verifier.ts';
import { knownKeysMax } from '../../src/accounts/known-keys.ts';
import { backlogMax, drainMsMax } from '../../src/app.ts';
import { secondMs } from '../../src/clock.ts';
import { settings } from '../../src/config.ts';
import { jsonDepthMax } from '../../src/exact-json.ts';
import { lastCallMs } from '../../src/http/closing.ts';
import { connectionsPerTurn } from '../../src/http/connections.ts';
import {
  chunkExtensionBytesMax,
  connectionsMax,
  defaultTimeouts,
  headerBytesMax,
  headersMax,
} from '../../src/http/http-server.ts';
import { requestsPerTurn, throngMsMax, waitingBytesMax, waitingRequestsMax } from '../../src/http/in-turn.ts';
import { bodyBytesMax } from '../../src/http/json-body.ts';
import { buildOpsServer } from '../../src/http/ops-server.ts';
import { heldAnswersMax } from '../../src/http/outbox.ts';
import { readyBytesMax } from '../../src/http/ready-answers.ts';
import { slowRequestMs, unavailableLinesMax } from '../../src/http/request-log.ts';
import { lingerBytesMax, lingerMs } from '../../src/http/unreadable.ts';
import { addressesMax } from '../../src/limits/memory/memory-counters.ts';
import { waitingCharactersMax } from '../../src/observability/line-buffer.ts';
import { createLog } from '../../src/observability/log.ts';
import { startLockMsMax } from '../../src/storage/postgres/database.ts';
import { waitingTasksMax } from '../../src/storage/postgres/pool.ts';
import { waitingWorksMax, writeWaitMsMax } from '../../src/storage/sqlite/writer.ts';
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

/** The server of the operator's port, as Node has it; it does not listen. */
async function buildOps(t: TestContext) {
  const log = createLog('silent', new PassThrough());
  const ops = await buildOpsServer({ checks: [], registry: new Registry(), log });
  t.after(() => ops.close());
  return ops.server;
}

test('docs/settings.md tells the fixed bounds as the program holds them', async (t) => {
  const ops = await buildOps(t);
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
    String(requestsPerTurn),
    `${connectionsPerTurn.least} to ${connectionsPerTurn.most}`,
    `${throngMsMax} ms`,
    String(heldAnswersMax),
    connectionsMax.toLocaleString('en'),
    backlogMax.toLocaleString('en'),
    waitingWorksMax.toLocaleString('en'),
    seconds(writeWaitMsMax),
    seconds(startLockMsMax),
    waitingTasksMax.toLocaleString('en'),
    addressesMax.toLocaleString('en'),
    rememberedKeysMax.toLocaleString('en'),
    knownKeysMax.toLocaleString('en'),
    String(strangersLane.runningMax),
    strangersLane.waitingMax.toLocaleString('en'),
    seconds(lookUpWaitMsMax),
    String(spentLane.runningMax),
    `${spentLane.waitingMax} and ${spentLane.waitingPerAddressMax}`,
    bytes(readyBytesMax),
    seconds(slowRequestMs),
    String(unavailableLinesMax),
    waitingCharactersMax.toLocaleString('en'),
    seconds(lingerMs),
    bytes(lingerBytesMax),
    seconds(lastCallMs),
    seconds(drainMsMax),
    [ops.headersTimeout, ops.requestTimeout, ops.keepAliveTimeout].map(seconds).join(', '),
  ]);
});
