import { rollingRestarts } from '../../../torture/shutdown/rolling.ts';
import { terminate } from '../../../torture/shutdown/terminate.ts';
import { testShort } from './test-short.ts';

testShort(terminate, 0.1);
testShort(rollingRestarts, 0.2, 1, 'no request is lost');
