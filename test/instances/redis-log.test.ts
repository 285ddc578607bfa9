import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { eventually, type RedisServer, startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { startService, type TestService } from '../support/service.ts';

const skip = await whyNoRedisServer();

function listLines(service: TestService) {
  const lines = service.readLog().split('\n');
  return lines.filter((line) => line.includes('request')).map((line) => JSON.parse(line));
}

async function readNotes({ app }: TestService): Promise<readonly string[]> {
  const { notes = [] } = (await (await fetch(`${app.opsUrl}/readyz`)).json()) as { notes?: string[] };
  return notes;
}

/** Starts a service with Redis, and a client that sends requests. */
async function open(t: TestContext, redisUrl: string) {
  const service = await startService(t, { REDIS_URL: redisUrl, LOG_REQUESTS: 'errors' });
  const key = await service.createKey();
  const send = () => Promise.all(Array.from({ length: 20 }, () => service.request(key, '/pets')));
  return { service, send };
}

/** Closes the connections to a port until two probes have failed. */
async function failProbes({ port }: RedisServer): Promise<void> {
  const { promise: isOver, resolve } = Promise.withResolvers<void>();
  let probes = 0;
  const server = createServer((socket) => {
    socket.destroy();
    probes += 1;
    // The instance has noted the failure of one probe before it begins the next.
    if (probes === 3) resolve();
  });
  server.listen(port, '127.0.0.1');
  await isOver;
  server.close();
  await once(server, 'close');
}

for (const [what, isThereAtStart] of [
  ['a start while Redis is away and its arrival log one line each, the first with the cause', false],
  ['the loss of Redis and its return log one line each, the first with the cause', true],
] as const)
  test(what, { skip }, async (t) => {
    const redis = await startRedisServer(t);
    if (!isThereAtStart) await redis.kill();
    const { service, send } = await open(t, redis.url);
    await send();
    if (isThereAtStart) await redis.kill();
    await send();
    const before = isThereAtStart ? [[30, 'shared']] : [];
    await eventually(async () => listLines(service).length > before.length);
    const alone = listLines(service).at(-1);
    assert.match(alone.reason, /ECONNREFUSED/);
    const [note = ''] = await readNotes(service);
    assert.ok(note.endsWith(alone.reason), note);
    await failProbes(redis);
    await redis.start();
    await eventually(async () => (await readNotes(service)).length === 0);
    const lines = listLines(service).map(({ level, mode }) => [level, mode]);
    assert.deepEqual(lines, [...before, [40, 'alone'], [30, 'shared']]);
  });
