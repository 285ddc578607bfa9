import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { expectErrorBody } from '../support/expect-error.ts';
import { listen } from '../support/local-server.ts';
import { startHaproxy, startNginx, whyNoHaproxy, whyNoNginx } from '../support/nginx.ts';
import { until } from '../support/processes.ts';

const noHaproxy = await whyNoHaproxy();
const noNginx = await whyNoNginx();
const waitMsMax = 60_000;

/** Starts an instance whose answers to `/v1/held` wait for the test, and whose checks fail as often as the test says. */
async function startInstance(t: TestContext) {
  const held: ServerResponse[] = [];
  const instance = createServer(({ url }, response) => {
    if (url === '/v1/held') held.push(response);
    else response.end();
  });
  const state = { held, failuresLeft: 0 };
  const operator = createServer(({ url }, response) => {
    assert.equal(url, '/readyz');
    response.writeHead(state.failuresLeft > 0 ? 503 : 200).end();
    state.failuresLeft -= 1;
  });
  const ports = { port: (await listen(t, instance)).port, opsPort: (await listen(t, operator)).port };
  const end = () => {
    instance.close();
    instance.closeAllConnections();
  };
  return { ports, state, end };
}

async function startInstances(t: TestContext) {
  const instances = [await startInstance(t), await startInstance(t), await startInstance(t)];
  return {
    ports: instances.map(({ ports }) => ports),
    states: instances.map(({ state }) => state),
    endFirst: () => instances[0]?.end(),
  };
}

type States = Awaited<ReturnType<typeof startInstances>>['states'];

/** Sends requests until each instance holds one. Returns a function that answers them. */
async function holdOneEach(t: TestContext, url: string, states: States) {
  for (const _ of states) {
    const asked = request(`${url}/v1/held`).on('error', () => undefined);
    t.after(() => asked.destroy());
    asked.end();
  }
  await until(
    async () => states.map(({ held }) => held.length).join(),
    (held) => held === '1,1,1',
    waitMsMax,
  );
  return () => {
    for (const { held } of states) held.pop()?.end();
  };
}

test('HAProxy keeps an instance whose check fails twice', { skip: noHaproxy }, async (t) => {
  const { ports, states } = await startInstances(t);
  const { readStatistics } = await startHaproxy(t, ports);
  const [busy, gone] = states;
  assert.ok(busy && gone);
  const readChecks = async () => (await readStatistics('check_status')).slice(0, 3).join();
  await until(readChecks, (checks) => checks === 'L7OK,L7OK,L7OK', waitMsMax);
  busy.failuresLeft = 2;
  gone.failuresLeft = Number.POSITIVE_INFINITY;
  const readState = async () => `${busy.failuresLeft < 0} ${(await readStatistics('chkdown')).slice(0, 3)}`;
  assert.equal(await until(readState, (state) => state === 'true 0,1,0', waitMsMax), 'true 0,1,0');
});

test('HAProxy sends a request to another instance if one is gone and its checks have not failed yet', {
  skip: noHaproxy,
}, async (t) => {
  const { ports, endFirst } = await startInstances(t);
  const { url } = await startHaproxy(t, ports);
  endFirst();
  for (let sent = 0; sent < 12; sent += 1) assert.equal((await fetch(`${url}/v1/pets`)).status, 200);
});

test('HAProxy lets a request wait while each instance has as many as it may', {
  skip: noHaproxy,
}, async (t) => {
  const { ports, states } = await startInstances(t);
  const { url, readStatistics } = await startHaproxy(t, ports, [['maxconn 2000', 'maxconn 1']]);
  const answerAll = await holdOneEach(t, url, states);
  const asked = request(`${url}/v1/pets`).end();
  const answered = once(asked, 'response');
  await until(
    async () => (await readStatistics('qcur')).at(-1),
    (queued) => queued === '1',
    waitMsMax,
  );
  answerAll();
  const [response] = await answered;
  assert.equal(response.statusCode, 200);
  response.resume();
});

test('HAProxy answers a request that waits too long with 503 and an Error body', {
  skip: noHaproxy,
}, async (t) => {
  const { ports, states } = await startInstances(t);
  const changes = [
    ['maxconn 2000', 'maxconn 1'],
    ['timeout queue 10s', 'timeout queue 10ms'],
  ] as const;
  const { url } = await startHaproxy(t, ports, changes);
  await holdOneEach(t, url, states);
  const response = await fetch(`${url}/v1/pets`);
  assert.equal(response.headers.get('retry-after'), '1');
  await expectErrorBody(response, 503, 'unavailable');
});

test('nginx answers 503 with an Error body while each instance has as many requests as it may', {
  skip: noNginx,
}, async (t) => {
  const { ports, states } = await startInstances(t);
  const change = ['max_conns=2000', 'max_conns=1'] as const;
  const { url } = await startNginx(
    t,
    ports.map(({ port }) => port),
    [change, change, change, ['keepalive 64;', '']],
  );
  const answerAll = await holdOneEach(t, url, states);
  const response = await fetch(`${url}/v1/pets`);
  assert.equal(response.headers.get('retry-after'), '1');
  await expectErrorBody(response, 503, 'unavailable');
  answerAll();
  const ask = async () => (await fetch(`${url}/v1/pets`)).status;
  assert.equal(await until(ask, (status) => status === 200, waitMsMax), 200);
});
