import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { connectCounters, findRedis } from '../support/redis.ts';
import { startRedisCluster, whyNoRedisServer } from '../support/redis-server.ts';
import { describeCounters } from './counters.ts';

const redis = await findRedis();
const noServer = await whyNoRedisServer();
const nodes = noServer === false ? await startRedisCluster({ after }) : [];

describeCounters({
  name: 'the counters in Redis',
  skip: redis.skip,
  async createCounters(test, addressesMax) {
    return connectCounters(test, { ...(await redis.createSpace(test)), time: 'caller', addressesMax });
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
