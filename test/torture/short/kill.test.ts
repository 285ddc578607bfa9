import { killCommands } from '../../../torture/kill/commands.ts';
import { failover } from '../../../torture/kill/failover.ts';
import { freshness } from '../../../torture/kill/freshness.ts';
import { kill, killShared } from '../../../torture/kill/kill.ts';
import { testShort } from './test-short.ts';

testShort(kill, 0.03, 1, 'no answered change or event is lost or done twice');
testShort(killShared, 0.03, 1, 'no answered change or event is lost or done twice');
testShort(failover, 0.1, 1, 'no answered change or event is lost or done twice');
testShort(killCommands, 0.1);
testShort(freshness, 0.05, 1, 'no answer is stale');
