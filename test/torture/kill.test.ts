import { follow } from '../../torture/follow/follow.ts';
import { freshness } from '../../torture/freshness/freshness.ts';
import { killCommands } from '../../torture/kill/commands.ts';
import { kill } from '../../torture/kill/kill.ts';
import { killOrders, killOrdersShared } from '../../torture/orders/kill-orders.ts';
import { testShort } from './short.ts';

testShort(kill, 0.03);
testShort(killCommands, 0.1);
testShort(killOrders, 0.03);
testShort(killOrdersShared, 0.01);
testShort(follow, 0.05, 1, 'the copy is equal to the store, nothing is missed or met twice');
testShort(freshness, 0.05, 1, 'no answer is stale');
