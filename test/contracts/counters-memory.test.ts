import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { describeCounters } from './counters.ts';

describeCounters({
  name: 'the counters in the process',
  skip: false,
  createCounters: async (_test, addressesMax) => createMemoryCounters({ addressesMax }),
});
