import { hangingPostgres, slowPostgres, slowRedis } from '../../torture/network/slow-stores.ts';
import { testShort } from './short.ts';

// The other scenarios differ from these only in their delays, or are tested in test/instances.
testShort(slowPostgres(300), 0.03);
testShort(slowRedis(300), 0.03);
testShort(hangingPostgres, 0.03);
