import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { findBlocks, readDocument } from '../docs/markdown.ts';
import { elementAt } from '../support/instances.ts';
import { connectCounters, findRedis } from '../support/redis.ts';
import {
  type RedisServer,
  startRedisCluster,
  startRedisServer,
  whyNoRedisServer,
} from '../support/redis-server.ts';
import { describeCounters } from './counters.ts';

const redis = await findRedis();
const noServer = await whyNoRedisServer();
// Before the first test: node:test runs the hooks of a file as soon as no test is left, though the file waits.
const nodes = noServer === false ? await startRedisCluster({ after }) : [];
const restricted = noServer === false ? await startRedisServer({ after }) : null;

describeCounters({
  name: 'the counters in Redis',
  skip: redis.skip,
  async createCounters(test, addressesMax) {
    return connectCounters(test, { ...(await redis.createSpace(test)), time: 'caller', addressesMax });
  },
});

const credentials = '//animal_store:PASSWORD@';
const prefix = 'animal-store:test:';

/** Creates the user of the guide on a server, with the rights that the guide adds for a case. */
async function createUser({ command }: RedisServer, ...added: readonly string[]): Promise<void> {
  const guide = await readDocument('docs/scaling.md');
  const [acl = assert.fail()] = findBlocks(guide).filter(({ code }) => code.startsWith('ACL SETUSER '));
  await command(...acl.code.trim().split(' '), ...added);
}

describeCounters({
  name: 'the counters in Redis, as the user of the guide',
  skip: noServer,
  async createCounters(test, addressesMax) {
    const server = restricted ?? assert.fail();
    await createUser(server);
    const url = server.url.replace('//', credentials);
    return connectCounters(test, { url, prefix: `${prefix}${randomUUID()}:`, time: 'caller', addressesMax });
  },
});

describeCounters({
  name: 'the counters in a cluster of three',
  skip: noServer,
  async createCounters(test, addressesMax) {
    const prefix = `animal-store-test:${randomUUID()}:`;
    return connectCounters(test, { url: nodes[0]?.url ?? '', prefix, time: 'caller', addressesMax });
  },
});

describe('the rights that the guide adds', { skip: noServer }, () => {
  test('are enough in a cluster', async (t) => {
    for (const node of nodes) await createUser(node, '+cluster|slots', '+asking');
    const url = elementAt(nodes, 0).url.replace('//', credentials);
    await connectCounters(t, { url, prefix });
  });

  test('are enough for a numbered database', async (t) => {
    const server = await startRedisServer(t);
    await createUser(server, '+select');
    await connectCounters(t, { url: `${server.url.replace('//', credentials)}/1`, prefix });
  });
});
