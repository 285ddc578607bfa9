import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as pause, setImmediate as turnEnds } from 'node:timers/promises';
import { createOutbox, heldAnswersMax } from '../../../src/http/outbox.ts';
import { createWarmKey } from '../../support/lane.ts';
import { serveInProcess } from '../../support/processes.ts';
import { exchangeRaw, formatRequest, openRaw } from '../../support/raw-http.ts';
import { type Ending, makeFolder, startService } from '../../support/service.ts';

function createSeen() {
  const outbox = createOutbox();
  const sent: string[] = [];
  const response = { end: (body: string) => sent.push(body) } as unknown as ServerResponse;
  return { sent, hold: outbox.hold, flush: outbox.flush, put: (body: string) => outbox.put(response, body) };
}

test('answers are sent in their order once the turn ends', async () => {
  const { hold, put, sent } = createSeen();
  hold();
  for (const body of ['one', 'two', 'three']) put(body);
  await Promise.resolve();
  assert.deepEqual(sent, []);
  await turnEnds();
  assert.deepEqual(sent, ['one', 'two', 'three']);
});

test('no more are held than the bound, and what comes after them is sent as the turn ends', async () => {
  const { hold, put, sent } = createSeen();
  hold();
  for (let number = 1; number < heldAnswersMax; number += 1) put(`${number}`);
  assert.equal(sent.length, 0);
  put('the last');
  assert.equal(sent.length, heldAnswersMax);
  put('one more');
  assert.equal(sent.length, heldAnswersMax);
  await turnEnds();
  assert.equal(sent.at(-1), 'one more');
});

test('what is answered outside of the reading is sent at once, and after what is held', async () => {
  const { hold, put, sent } = createSeen();
  put('one');
  assert.deepEqual(sent, ['one']);
  hold();
  put('two');
  await turnEnds();
  put('three');
  assert.deepEqual(sent, ['one', 'two', 'three']);
});

test('what is sent sooner is sent once', async () => {
  const { hold, put, flush, sent } = createSeen();
  hold();
  put('one');
  flush();
  assert.deepEqual(sent, ['one']);
  flush();
  put('two');
  await turnEnds();
  await turnEnds();
  assert.deepEqual(sent, ['one', 'two']);
});

/** What Node reads of a socket at once. */
const bufferBytes = 65_536;

async function startShipped(t: Ending) {
  const service = await startService(t, { LOG_REQUESTS: 'errors' });
  const key = await createWarmKey(service);
  for (const name of ['Rex', 'Bo']) await service.store.catalogue.add({ name, categoryId: 1n }, null);
  await (await service.request(key, '/pets/1')).text();
  const get = (id: number) =>
    formatRequest(`GET /v1/pets/${id}`, { authorization: `Bearer ${key}`, connection: 'keep-alive' });
  return { service, get };
}

for (const [what, id, outcome] of [
  ['that is ready', 1, 200],
  ['from the store', 2, 200],
  ['of none', 99, 404],
] as const) {
  for (const [behind, status, text] of [
    ['garbage', 400, 'garbage\r\n\r\n'],
    ['a CONNECT', 405, 'CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ] as const)
    test(`an answer ${what} comes before that to ${behind} behind its request`, async (t) => {
      const { service, get } = await startShipped(t);
      const responses = await exchangeRaw(t, service.baseUrl, get(id) + text);
      assert.deepEqual(
        responses.map((response) => response.status),
        [outcome, status],
      );
    });

  test(`a client that says with its request that it will send no more gets its answer ${what}`, async (t) => {
    const { service, get } = await startShipped(t);
    const connection = await openRaw(t, service.baseUrl);
    connection.send(get(id));
    connection.end();
    const responses = await connection.readAll();
    assert.deepEqual(
      responses.map(({ status }) => status),
      [outcome],
    );
  });

  test(`a client whose end is read in one go with its request gets its answer ${what}`, async (t) => {
    const { service, get } = await startShipped(t);
    for (let again = 0; again < 5; again += 1) {
      const connection = await openRaw(t, service.baseUrl);
      // Node reads on, up to the end, where a reading has filled its buffer. Empty lines before a request are passed over.
      connection.send(get(id).padStart(bufferBytes, '\r\n'));
      connection.end();
      const responses = await connection.readAll();
      assert.deepEqual(
        responses.map(({ status }) => status),
        [outcome],
      );
    }
  });

  test(`a client that goes away before its answer ${what} harms nobody`, async (t) => {
    const { service, get } = await startShipped(t);
    for (let number = 0; number < 20; number += 1) {
      const connection = await openRaw(t, service.baseUrl);
      connection.send(get(id));
      connection.reset();
    }
    const [response] = await exchangeRaw(t, service.baseUrl, `${get(id)}garbage\r\n\r\n`);
    assert.equal(response?.status, outcome);
    assert.doesNotMatch(service.readLog(), /"level":(?:50|60)/);
  });
}

/** Makes each add take long, so that what waits for one is behind what does not. */
const slowAdds = `create trigger slow_adds before insert on pets begin
  select count(*) from (with recursive n(i) as (select 1 union all select i + 1 from n where i < 2000000) select i from n);
end`;

test('a read that comes in one turn with an add is not made to wait for its commit', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const settings = { DATABASE_URL: `sqlite:${path}`, LOG_REQUESTS: 'errors', ENVIRONMENT: 'development' };
  const { url, key, child } = await serveInProcess(t, { settings });
  const headers = { authorization: `Bearer ${key}`, connection: 'keep-alive' };
  const body = '{"name":"Rex","categoryId":1}';
  const ofBody = { 'content-type': 'application/json', 'content-length': String(body.length) };
  const requests = {
    read: formatRequest('GET /v1/pets', headers),
    add: formatRequest('POST /v1/pets', { ...headers, ...ofBody }, body),
  };
  const [reader, adder] = [await openRaw(t, url), await openRaw(t, url)];
  // The key is remembered, the page is ready, and one who comes after one that was alone has his commit made at once.
  for (const request of [requests.add, requests.add]) {
    adder.send(request);
    assert.equal((await adder.read()).status, 201);
  }
  reader.send(requests.read);
  assert.equal((await reader.read()).status, 200);
  const beside = new DatabaseSync(path, { timeout: 1_000 });
  beside.exec(slowAdds);
  beside.close();

  const answered: string[] = [];
  child.kill('SIGSTOP');
  reader.send(requests.read);
  await pause(20);
  adder.send(requests.add);
  await pause(20);
  child.kill('SIGCONT');
  await Promise.all([
    reader.read().then(({ status }) => answered.push(`read ${status}`)),
    adder.read().then(({ status }) => answered.push(`add ${status}`)),
  ]);
  assert.deepEqual(answered, ['read 200', 'add 201']);
});
