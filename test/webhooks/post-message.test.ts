import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { redactKeys } from '../../src/observability/safe-text.ts';
import { createPostMessage, type PostOptions, resolveName } from '../../src/webhooks/post-message.ts';
import { createNetworks } from '../../src/webhooks/rules/target-address.ts';
import { listen } from '../support/local-server.ts';
import { startReceiver } from '../support/receiver.ts';

const hint = 'HTTP/1.1 103 Early Hints\r\n\r\n';
const never = new AbortController().signal;
const none = createNetworks([]);
const here = createNetworks(['127.0.0.0/8', '::1']);
/** Time in ms after which an attempt times out. It is long enough for any answer, even on a busy machine. */
const attemptMs = 3_000;
const short = { attemptMs: 300 };

function post(url: string, options: Partial<PostOptions> = {}) {
  const given = { allowed: here, shown: here, redact: redactKeys, allowsHttp: true, attemptMs, ...options };
  return createPostMessage(given)(url, { 'webhook-id': 'evt_1' }, '{}', never);
}

/** Listens on a port of this machine, over IPv4 and IPv6, and counts the connections. */
async function startBait() {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, '::');
  after(() => server.close());
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, count: () => connections };
}

const ok = { status: 204, retryAfter: undefined, answerStart: '' };
const bait = await startBait();
const names: Readonly<Record<string, readonly string[]>> = {
  'one.test': ['127.0.0.1'],
  'six.test': ['::1'],
  'mixed.test': ['1.1.1.1', '127.0.0.1'],
  'mixed-six.test': ['2606:4700::1111', '::1'],
  'mapped.test': ['::ffff:127.0.0.1'],
  'metadata.test': ['169.254.169.254'],
};
const resolve = async (name: string) => names[name] ?? [];

test('an attempt makes no connection to a forbidden target in any notation', async () => {
  const hosts = [
    ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
    ...['0.0.0.0', '0', '127.255.255.254', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]'],
    ...['[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::127.0.0.1]', '[2002:7f00:1::]'],
    ...['10.0.0.1', '100.64.0.1', '169.254.169.254', '172.16.0.1', '192.168.0.1', '198.18.0.1', '[fd00::1]'],
    ...['[fe80::1]', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost', ...Object.keys(names)],
  ];
  for (const host of hosts)
    for (const scheme of ['http', 'https']) {
      const options = host.endsWith('.test') ? { allowed: none, resolve } : { allowed: none };
      const result = await post(`${scheme}://${host}:${bait.port}/`, options);
      assert.deepEqual(result, { failure: 'blocked_address' }, `${scheme}://${host}`);
    }
  assert.ok(hosts.length > 25);
  assert.equal(bait.count(), 0);
});

test('the test server detects a connection to an allowed target', async () => {
  for (const host of ['127.0.0.1', '[::1]', 'localhost'])
    assert.deepEqual(await post(`http://${host}:${bait.port}/`), { failure: 'refused' }, host);
  assert.ok(bait.count() >= 3);
});

test('a resolved name leaves no listener on the signal of its attempt', async () => {
  const { signal } = new AbortController();
  await resolveName('animal-store.invalid', signal);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('an attempt resolves a name once and connects to the checked addresses', async (t) => {
  const receiver = await startReceiver(t);
  const { port } = new URL(receiver.url);
  const asked: string[] = [];
  const rebinding = async (name: string) => {
    asked.push(name);
    return asked.length === 1 ? ['127.0.0.1'] : ['10.0.0.1'];
  };
  const url = `http://partner.test:${port}/hook?a=1`;
  assert.deepEqual(await post(url, { resolve: rebinding }), ok);
  assert.deepEqual(await post(url, { resolve: rebinding }), { failure: 'blocked_address' });
  assert.deepEqual(asked, ['partner.test', 'partner.test']);
  assert.equal(receiver.received.length, 1);
  assert.equal(receiver.received[0]?.headers.host, `partner.test:${port}`);
});

test('an attempt without an answer has the reason as its result, also if the store has a forbidden URL', async (t) => {
  const { url } = await startReceiver(t);
  const fails = () => Promise.reject(new Error('SERVFAIL'));
  const hangs = (_: string, signal: AbortSignal) =>
    once(signal, 'abort').then(() => Promise.reject(signal.reason));
  for (const [target, options, failure] of [
    ['http://nowhere.test/', { resolve }, 'dns'],
    ['http://nowhere.test/', { resolve: fails }, 'dns'],
    ['http://slow.test/', { ...short, resolve: hangs }, 'timeout'],
    [url, { allowsHttp: false }, 'refused'],
    [url.replace('http:', 'https:'), {}, 'tls'],
    [`http:///u:p@127.0.0.1:${bait.port}/`, {}, 'refused'],
    [`http://u:p@127.0.0.1:${bait.port}/`, {}, 'refused'],
    ['nonsense', {}, 'refused'],
  ] as const)
    assert.deepEqual(await post(target, options), { failure }, target);
});

test('an attempt records a result for every answer that is none of a good receiver', async (t) => {
  const receiver = await startReceiver(t);
  receiver.reactions.push({ status: 307, headers: { location: receiver.url } }, () => undefined);
  assert.deepEqual(await post(receiver.url), { ...ok, status: 307 });
  assert.deepEqual(await post(receiver.url, short), { failure: 'timeout' });
  for (const [text, failure] of [
    ['HTTP/1.1 200 OK\r\nx-a: ', 'timeout'],
    ['HTTP/1.1 100 Continue\r\n\r\n', 'timeout'],
    ['SSH-2.0-OpenSSH\r\n', 'refused'],
    [`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(100_000)}\r\n\r\n`, 'refused'],
    ['HTTP/1.1 000 Zero\r\ncontent-length: 0\r\n\r\n', 'refused'],
    ['HTTP/1.1 099 Low\r\ncontent-length: 0\r\n\r\n', 'refused'],
    [hint.repeat(11), 'refused'],
    ['HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', 'refused'],
  ] as const) {
    const { url } = await startFixed(text);
    assert.deepEqual(await post(url, failure === 'timeout' ? short : {}), { failure }, text.slice(0, 40));
  }
  const { url } = await startFixed(`${hint.repeat(3)}HTTP/1.1 204 No Content\r\n\r\n`);
  assert.deepEqual(await post(url), ok);
});

test('an endless body is read only up to a bound', async (t) => {
  const receiver = await startReceiver(t);
  const closed = Promise.withResolvers<void>();
  receiver.reactions.push((response) => {
    response.on('close', closed.resolve).on('error', () => undefined);
    response.writeHead(200);
    const write = (): void => {
      if (response.destroyed) return;
      response.write(Buffer.alloc(16_384));
      setImmediate(write);
    };
    write();
  });
  assert.deepEqual(await post(receiver.url), { ...ok, status: 200, answerStart: '\0'.repeat(1_000) });
  await closed.promise;
});

/** Starts a receiver, and returns what an attempt keeps of an answer with this body and these headers. */
async function readStart(body: string | Buffer, headers = '', options: Partial<PostOptions> = {}) {
  const { url } = await startServer((socket) => {
    socket.write(`HTTP/1.1 500 No\r\nconnection: close\r\n${headers}\r\n`);
    socket.end(body);
  });
  const answered = await post(url, options);
  assert.ok('status' in answered && answered.status === 500);
  return answered.answerStart;
}

test('an attempt keeps a short answer whole', async () => {
  assert.equal(await readStart('{"error":"né"}'), '{"error":"né"}');
  assert.equal(await readStart(''), '');
});

test('an attempt keeps the first 1,000 bytes of an answer, up to the last whole character', async () => {
  assert.equal(await readStart('a'.repeat(1_001)), 'a'.repeat(1_000));
  assert.equal(await readStart(`${'a'.repeat(998)}猫`), 'a'.repeat(998));
  assert.equal(await readStart(`${'a'.repeat(997)}猫`), `${'a'.repeat(997)}猫`);
});

test('an attempt replaces what is no UTF-8 in an answer', async () => {
  assert.equal(await readStart(Buffer.from([0x61, 0xff, 0x62, 0xc3])), 'a\ufffdb\ufffd');
});

test('an attempt keeps no API key that stands in an answer', async () => {
  const random = 'a'.repeat(30);
  assert.equal(
    await readStart(`ANIMAL_STORE_KEY=as_live_${random} x`),
    'ANIMAL_STORE_KEY=as_live_[redacted] x',
  );
  assert.equal((await readStart('as_dev_12345 '.repeat(70)))?.length, 1_000);
});

test('an attempt keeps nothing of an encoded answer', async () => {
  assert.equal(await readStart('secret', 'content-encoding: gzip\r\n'), null);
});

test('an attempt keeps nothing of an answer from an address that only the operator allows', async () => {
  assert.equal(await readStart('secret', '', { shown: none }), null);
  assert.equal(await readStart('secret', '', { shown: createNetworks(['10.0.0.0/8']) }), null);
});

test('what counts is the address that an attempt connects to', async (t) => {
  const receiver = await startReceiver(t);
  const { port } = new URL(receiver.url);
  const both = async () => ['127.0.0.1', '127.0.0.2'];
  const only = createNetworks(['127.0.0.2']);
  const result = await post(`http://two.test:${port}/`, { resolve: both, shown: only });
  assert.deepEqual(result, { ...ok, answerStart: null });
});

test('an attempt ends its connection soon after the head', async () => {
  for (const [head, status, leastMs] of [
    ['HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n', 200, 900],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', 200, 900],
    ['HTTP/1.1 200 OK\r\n\r\n', 200, 900],
    ['HTTP/1.1 204 No Content\r\nconnection: keep-alive\r\n\r\n', 204, 0],
  ] as const) {
    const { url, sockets } = await startFixed(head);
    const startedMs = performance.now();
    assert.deepEqual(await post(url), { ...ok, status });
    assert.ok(performance.now() - startedMs >= leastMs);
    await untilClosed(sockets);
  }
});

test('the body that is read after the head does not count for the time to the head', async () => {
  // The body never comes, so it is waited for longer than the 900 ms.
  const { url } = await startFixed('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n');
  assert.deepEqual(await post(url, { attemptMs: 900 }), { ...ok, status: 200 });
});

test('an address that is slow to connect has its share of the time, although another address follows', async (t) => {
  const { port, pause, resume } = await startSlowListener(t);
  const slow = async () => ['127.0.0.2', '127.0.0.1'];
  await pause();
  setTimeout(resume, 800);
  assert.deepEqual(await post(`http://two.test:${port}/`, { attemptMs: 15_000, resolve: slow }), ok);
});

/** Starts a receiver in another process, on 127.0.0.2. While it is paused, connections to it wait. */
async function startSlowListener(t: TestContext) {
  const source = `require('node:net').createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 204 No Content\\r\\n\\r\\n'));
  }).listen({ port: 0, host: '127.0.0.2', backlog: 1 }, function () { console.log(this.address().port); })`;
  const child = spawn(process.execPath, ['-e', source], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  return {
    port,
    async pause() {
      child.kill('SIGSTOP');
      // These connections fill the queue of the paused process, so the system answers no further one.
      for (let filler = 0; filler < 4; filler += 1) {
        const socket = connect(port, '127.0.0.2').on('error', () => undefined);
        t.after(() => socket.destroy());
        await Promise.race([once(socket, 'connect'), new Promise((resolve) => setTimeout(resolve, 100))]);
      }
    },
    resume: () => child.kill('SIGCONT'),
  };
}

/** Starts a server that answers each request by hand. Returns its URL and its connections. */
async function startServer(answer: (socket: Socket) => void): Promise<{ url: string; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.once('data', () => answer(socket));
    after(() => socket.destroy());
  });
  return { url: (await listen({ after }, server)).href, sockets };
}

/** Starts a server that answers each request with a fixed text. */
const startFixed = (text: string) => startServer((socket) => socket.write(text));

async function untilClosed(sockets: ReadonlySet<Socket>): Promise<void> {
  while (sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
}
