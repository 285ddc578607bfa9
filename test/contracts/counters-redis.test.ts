import { createRedisCounters } from '../../src/limits/counters-redis.ts';
import { findRedis } from '../support/redis.ts';
import { describeCounters } from './counters.ts';

const redis = await findRedis();

describeCounters({
  name: 'the counters in Redis',
  skip: redis.skip,
  async createCounters(test) {
    const { url, prefix } = await redis.createSpace(test);
    const counters = createRedisCounters({ url, prefix, time: 'caller' });
    test.after(counters.close);
    await counters.probe('account', 'key');
    return counters;
  },
});
