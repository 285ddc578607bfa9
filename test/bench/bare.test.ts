import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { addEtags, exchange, type Method, type Request } from '../../bench/exchange.ts';
import { sendHeads } from '../../bench/head-load.ts';
import { type RunningServer, startServer } from '../../bench/processes.ts';
import { type Recorded, record } from '../../bench/recording.ts';
import { bare } from '../../bench/subjects.ts';
import { makeFolder } from '../support/service.ts';

const headers = ['ETag', '"rex"', 'Content-Type', 'application/json', 'Vary', 'Origin'];
const body = '[{"id":1}]';
const withLength = [...headers, 'Content-Length', String(body.length)];
const recorded: Recorded = {
  keepAliveMs: 7_000,
  answers: {
    GET: { status: 200, headers: withLength, body },
    HEAD: { status: 200, headers: withLength, body: '' },
    POST: { status: 201, headers: withLength, body },
  },
};
const notModified: Recorded = { keepAliveMs: 7_000, answers: { GET: { status: 304, headers, body: '' } } };
const path = '/v1/pets';

async function startBare(t: TestContext, answers: Recorded): Promise<RunningServer> {
  const folder = await makeFolder(t);
  const recordedFile = join(folder, 'recorded.json');
  await writeFile(recordedFile, JSON.stringify(answers));
  const store = { file: '', animals: 0, key: '', keyId: '' };
  const ground = { folder, recordedFile, storeFile: '', settings: {}, store };
  const build = (port: number) => bare.build(port, ground);
  const server = await startServer(build, { method: 'GET', path }, {}, join(folder, 'bare.log'));
  t.after(() => server.stop());
  return server;
}

async function recordAgain(t: TestContext, answers: Recorded): Promise<Recorded> {
  const { origin } = await startBare(t, answers);
  const requests = (Object.keys(answers.answers) as Method[]).map((method): Request => ({ method, path }));
  return record(join(await makeFolder(t), 'again.json'), origin, requests, {});
}

test('the bare server sends the recorded status, headers and body of each method, a 304 too', async (t) => {
  for (const answers of [recorded, notModified]) assert.deepEqual(await recordAgain(t, answers), answers);
});

const heads = { requests: [{ method: 'HEAD', path }] as Request[], headers: {}, connections: 3 };

test('a load of HEAD requests counts the answers of all connections', async (t) => {
  const { origin } = await startBare(t, recorded);
  assert.equal((await sendHeads(origin, heads, 0)).requests, 3);
});

test('a load of HEAD requests fails if one is not answered with 200', async (t) => {
  const { origin } = await startBare(t, { ...recorded, answers: { GET: { status: 200, headers, body } } });
  await assert.rejects(sendHeads(origin, heads, 0), /HTTP\/1.1 404/);
  assert.equal((await exchange(origin, { method: 'GET', path }, {})).status, 200);
});

test('addEtags adds to each request the ETag of its own answer', async (t) => {
  const { origin } = await startBare(t, recorded);
  const requests = ['/1', '/2'].map((id): Request => ({ method: 'GET', path: path + id }));
  const tagged = requests.map((request) => ({ ...request, ifNoneMatch: '"rex"' }));
  assert.deepEqual(await addEtags(origin, requests, {}), tagged);
});
