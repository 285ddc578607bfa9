import { clockBack } from '../../torture/shutdown/clock-back.ts';
import { rollingRestarts } from '../../torture/shutdown/rolling.ts';
import { secondInstance } from '../../torture/shutdown/second-instance.ts';
import { terminate } from '../../torture/shutdown/terminate.ts';
import { testShort } from './short.ts';

testShort(terminate, 0.1);
testShort(secondInstance, 0.1);
testShort(clockBack, 0.1);
testShort(rollingRestarts, 0.2, 1, 'no request is lost');
