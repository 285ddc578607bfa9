import { readFileSync } from 'node:fs';
import { type CommandParser, defineScript } from '@redis/client';
import { dayMs, minuteMs } from '../../clock.ts';
import { banMsMax, banMsMin, ladderMs, strikesMs } from '../rules/bans.ts';

/** The durations that the scripts use, as local variables of Lua. */
const durations = Object.entries({ minuteMs, dayMs, banMsMax, banMsMin, ladderMs, strikesMs })
  .map(([name, ms]) => `local ${name} = ${ms}\n`)
  .join('');

/** Redis runs each script atomically. The names are those of the functions that a client then has. */
export const scripts = {
  takeForKey: createScript('count-in-windows', 'take-for-key'),
  takeForAddress: createScript('count-in-windows', 'take-for-address'),
  lift: createScript('lift'),
  reset: createScript('reset'),
};

/** The name of one of `scripts`. */
export type ScriptName = keyof typeof scripts;

/** Puts a script together from files in `lua/`. Each begins with the durations and with how numbers are stored. */
function createScript(...names: readonly string[]) {
  const files = ['stored-numbers', ...names].map((name) => new URL(`lua/${name}.lua`, import.meta.url));
  return defineScript({
    SCRIPT: durations + files.map((file) => readFileSync(file, 'utf8')).join(''),
    parseCommand(parser: CommandParser, keys: readonly string[], parameters: readonly string[]) {
      parser.push(String(keys.length));
      parser.pushKeys([...keys]);
      parser.push(...parameters);
    },
    transformReply: (reply: unknown) => reply,
  });
}
