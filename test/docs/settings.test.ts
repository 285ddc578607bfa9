import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lane, rememberedKeysMax } from '../../src/accounts/key-verifier.ts';
import { drainMsMax } from '../../src/app.ts';
import { secondMs } from '../../src/clock.ts';
import { settings } from '../../src/config.ts';
import { waitingPagesMax } from '../../src/events/feed.ts';
import { jsonDepthMax, longNumbersMax } from '../../src/exact-json.ts';
import {
  backlogMax,
  connectionsMax,
  defaultTimeouts,
  headerBytesMax,
  headersMax,
  lingerBytesMax,
  lingerMs,
  operatorConnectionsMax,
} from '../../src/http/connection/bounds.ts';
import { allWaitingRequestsMax, waitingRequestsMax } from '../../src/http/connection/connections.ts';
import { lastCallMs } from '../../src/http/connection/graceful-shutdown.ts';
import { turnMsMax, turnRequestsMax } from '../../src/http/connection/turn-queue.ts';
import { openMsMax } from '../../src/http/docs-site/routes.ts';
import { bodyBytesMax } from '../../src/http/request/body.ts';
import { heldBodyBytesMax } from '../../src/http/request/body-memory.ts';
import { refusalPace } from '../../src/http/request/refusal-pace.ts';
import { linesPerSecondMax, slowRequestMs } from '../../src/http/request-log.ts';
import { askedHeadersBytesMax, askedHeadersMax } from '../../src/http/response/cors.ts';
import { cacheBytesMax } from '../../src/http/response/response-cache.ts';
import { addressesMax } from '../../src/limits/counters.ts';
import { waitingCharactersMax } from '../../src/observability/log.ts';
import { postgresParameters } from '../../src/postgres-address.ts';
import { connectionsDefault } from '../../src/setting-values.ts';
import { connectMsMax } from '../../src/storage/postgres/client.ts';
import { startLockMsMax } from '../../src/storage/postgres/database.ts';
import {
  accountWritesMax,
  divideConnections,
  repeatMsMax,
  waitingTasksMax,
} from '../../src/storage/postgres/pool.ts';
import { startMsMax } from '../../src/storage/sqlite/claim-serving.ts';
import { waitingJobsMax, writeWaitMsMax } from '../../src/storage/sqlite/write-queue.ts';
import { ownRowsMax } from '../../src/usage/failed-requests.ts';
import { requestRowsMax } from '../../src/usage/request-rows.ts';
import { countedMax, writtenMax } from '../../src/usage/strangers.ts';
import { placesMax } from '../../src/webhooks/places.ts';
import { readDocument, readTable } from './markdown.ts';

const document = await readDocument('docs/settings.md');
const bounds = await readDocument('docs/bounds.md');

test('docs/settings.md lists exactly the settings of the program, with their defaults and choices', () => {
  const listed = readTable(document, 'Environment variables');
  const actual = Object.entries(settings).map(([name, { fallback }]) => [
    `\`${name}\``,
    typeof fallback === 'string' && fallback !== '' ? `\`${fallback}\`` : '',
  ]);
  const told = listed.map(([name, , fallback]) => [name, fallback]);
  assert.deepEqual(told, actual);
  for (const name of ['ENVIRONMENT', 'ALLOW_FILE_SYSTEM', 'LOG_LEVEL', 'LOG_REQUESTS'] as const) {
    const [, type = ''] = listed.find(([cell]) => cell === `\`${name}\``) ?? [];
    assert.throws(() => settings[name].parse('?'), { message: `one of ${type.replaceAll(' | ', ', ')}` });
  }
});

test('docs/settings.md lists exactly the parameters that a PostgreSQL address may have', () => {
  const listed = readTable(document, 'Parameters of a PostgreSQL address');
  const names = listed.map(([parameter = '']) => parameter.replace(/^`(\w+).*$/, '$1'));
  assert.deepEqual([...new Set(names)], postgresParameters);
});

test('docs/bounds.md has the same fixed bounds as the program', () => {
  const seconds = (ms: number) => `${ms / secondMs} s`;
  const bytes = (count: number) => `${count.toLocaleString('en')} bytes`;
  const listed = readTable(bounds, 'Fixed bounds').map(([, value]) => value);
  assert.deepEqual(listed, [
    bytes(headerBytesMax),
    headersMax.toLocaleString('en'),
    bytes(bodyBytesMax),
    bytes(heldBodyBytesMax),
    // Node's own bound.
    bytes(16 * 1024),
    `${askedHeadersMax} and ${bytes(askedHeadersBytesMax)}`,
    `${jsonDepthMax} levels`,
    longNumbersMax.toLocaleString('en'),
    seconds(defaultTimeouts.headersMs),
    seconds(defaultTimeouts.requestMs),
    seconds(defaultTimeouts.keepAliveMs),
    seconds(defaultTimeouts.untakenMs),
    seconds(openMsMax),
    waitingRequestsMax.toLocaleString('en'),
    allWaitingRequestsMax.toLocaleString('en'),
    `${turnRequestsMax}, and none after ${turnMsMax} ms`,
    refusalPace.perSecond.toLocaleString('en'),
    String(refusalPace.burst),
    connectionsMax.toLocaleString('en'),
    backlogMax.toLocaleString('en'),
    waitingJobsMax.toLocaleString('en'),
    seconds(writeWaitMsMax),
    seconds(startMsMax),
    seconds(startLockMsMax),
    waitingTasksMax.toLocaleString('en'),
    String(accountWritesMax),
    `${divideConnections(connectionsDefault).inTurn} of 10 connections`,
    seconds(connectMsMax),
    seconds(repeatMsMax),
    addressesMax.toLocaleString('en'),
    rememberedKeysMax.toLocaleString('en'),
    String(lane.runningMax),
    String(lane.spentMax),
    lane.waitingMax.toLocaleString('en'),
    seconds(lane.waitMsMax),
    waitingPagesMax.toLocaleString('en'),
    String(placesMax),
    bytes(cacheBytesMax),
    seconds(slowRequestMs),
    String(linesPerSecondMax),
    waitingCharactersMax.toLocaleString('en'),
    seconds(lingerMs),
    bytes(lingerBytesMax),
    seconds(lastCallMs),
    seconds(drainMsMax),
    operatorConnectionsMax.toLocaleString('en'),
    String(ownRowsMax),
    countedMax.toLocaleString('en'),
    String(writtenMax),
    requestRowsMax.all.toLocaleString('en'),
    requestRowsMax.ofAccount.toLocaleString('en'),
  ]);
});
