import { killCommands } from '../../torture/kill/commands.ts';
import { kill } from '../../torture/kill/kill.ts';
import { testShort } from './short.ts';

testShort(kill, 0.03);
testShort(killCommands, 0.1);
