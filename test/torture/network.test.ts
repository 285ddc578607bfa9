import { hangingPostgres, slowPostgres, slowRedis } from '../../torture/network/slow-stores.ts';
import { testShort } from './short.ts';

// The others differ from these in their times alone, or are tested in test/instances.
testShort(slowPostgres(300), 0.03);
testShort(slowRedis(300), 0.03);
testShort(hangingPostgres, 0.03);
