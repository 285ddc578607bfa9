import { type CommandParser, defineScript } from '@redis/client';
import { dayMs, minuteMs } from '../../clock.ts';
import { banMsMax, banMsMin, ladderMs, strikesMs } from '../rules/bans.ts';

/**
 * All scripts begin with this text. A key has four numbers: the windows of a subject as "minuteUsed minuteEndsAtMs dayUsed
 * dayEndsAtMs", or the conduct of an API key as "banAtMs banMs strikes strikesEndAtMs". The values of release 1.1.0 are
 * read too: it wrote the ban of a key as three numbers. A text without numbers counts as zeros.
 */
const readAndFormat = `
local function parse(text)
  local a, b, c, d = string.match(text or '', '^(%d+) (%d+) (%d+) ?(%d*)$')
  return tonumber(a) or 0, tonumber(b) or 0, tonumber(c) or 0, tonumber(d) or 0
end

local function read(key) return parse(redis.call('GET', key)) end

local function format(...) return string.format('%.0f %.0f %.0f %.0f', ...) end
`;

/**
 * Both scripts that count begin with this text. Of a batch, the requests that pass come first. A window that ends too
 * late, because the clock was set back, ends a whole window from now.
 *
 * - Parameter 1 is the time. If it is empty, the server's clock counts.
 * - Parameters 2 and 3 are the limits per minute and per day, and parameter 4 is the number of requests.
 * - Key 1 has the windows of the subject. If Redis has none, parameter 6 has them, if it is given.
 */
const countInWindows = `${readAndFormat}
local nowMs, perMinute, perDay, count = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if not nowMs then
  local time = redis.call('TIME')
  nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
end

local function write(key, untilMs, ...)
  if untilMs > nowMs then redis.call('SET', key, format(...), 'PX', untilMs - nowMs) end
end

local minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs = parse(redis.call('GET', KEYS[1]) or ARGV[6])
if minuteEndsAtMs <= nowMs then minuteUsed, minuteEndsAtMs = 0, 0 end
if dayEndsAtMs <= nowMs then dayUsed, dayEndsAtMs = 0, 0 end
minuteEndsAtMs = math.min(minuteEndsAtMs, nowMs + ${minuteMs})
dayEndsAtMs = math.min(dayEndsAtMs, nowMs + ${dayMs})

local function pass()
  local passed = math.max(0, math.min(count, perMinute - minuteUsed, perDay - dayUsed))
  if passed > 0 then
    if minuteUsed == 0 then minuteEndsAtMs = nowMs + ${minuteMs} end
    if dayUsed == 0 then dayEndsAtMs = nowMs + ${dayMs} end
    minuteUsed, dayUsed = minuteUsed + passed, dayUsed + passed
  end
  return passed
end

local function answer(passed, refused, banAtMs, banMs)
  write(KEYS[1], math.max(minuteEndsAtMs, dayEndsAtMs), minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs)
  return {passed, refused, nowMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, banAtMs, banMs}
end
`;

/**
 * Decides on a batch of requests of one key. With a batch of 0, only reads. Key 2 has the conduct of the key. Parameter 5
 * is the number of strikes that ban the key.
 *
 * Returns the numbers of passed and refused requests, the time, both windows, and the start and the duration of the
 * newest ban. All other requests of the batch were refused because of the ban.
 */
const takeForKey = createScript(`${countInWindows}
local banAtMs, banMs, strikes, strikesEndAtMs = read(KEYS[2])
banAtMs = math.min(banAtMs, nowMs)
if nowMs >= banAtMs + ${ladderMs} then banAtMs, banMs = 0, 0 end
if strikesEndAtMs <= nowMs or strikesEndAtMs > nowMs + ${strikesMs} then strikes, strikesEndAtMs = 0, 0 end

local passed, refused = 0, 0
if banAtMs + banMs <= nowMs then
  passed = pass()
  local strikesLeft = math.max(1, tonumber(ARGV[5]) - strikes)
  refused = math.min(count - passed, strikesLeft)
  if refused > 0 and strikes == 0 then strikesEndAtMs = nowMs + ${strikesMs} end
  strikes = strikes + refused
  if refused == strikesLeft then
    banAtMs, banMs = nowMs, math.min(math.max(2 * banMs, ${banMsMin}), ${banMsMax})
    strikes, strikesEndAtMs = 0, 0
  end
end
local forgetAtMs = math.max(strikesEndAtMs, banMs > 0 and banAtMs + ${ladderMs} or 0)
write(KEYS[2], forgetAtMs, banAtMs, banMs, strikes, strikesEndAtMs)
return answer(passed, refused, banAtMs, banMs)
`);

/**
 * Decides on one request of an address. With a batch of 0, only reads. Returns the same list as `takeForKey`.
 *
 * - Key 2 is the index of addresses: a sorted set with the time of the last request of each.
 * - Parameter 5 is the maximum number of addresses. Beyond, the one seen longest ago is forgotten.
 */
const takeForAddress = createScript(`${countInWindows}
local passed = pass()
if count > 0 then
  redis.call('ZADD', KEYS[2], string.format('%.0f', nowMs), KEYS[1])
  redis.call('PEXPIRE', KEYS[2], ${dayMs})
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', nowMs - ${dayMs}))
  if redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[5]) then redis.call('DEL', redis.call('ZPOPMIN', KEYS[2])[1]) end
end
return answer(passed, count - passed, 0, 0)
`);

/** Forgets the ban and the strikes that began at the time of parameter 1 or before. Key 1 has the conduct of a key. */
const lift = createScript(`${readAndFormat}
local atMs, banAtMs, banMs, strikes, strikesEndAtMs = tonumber(ARGV[1]), read(KEYS[1])
if banAtMs <= atMs then banAtMs, banMs = 0, 0 end
if strikesEndAtMs - ${strikesMs} <= atMs then strikes, strikesEndAtMs = 0, 0 end
redis.call('SET', KEYS[1], format(banAtMs, banMs, strikes, strikesEndAtMs), 'XX', 'KEEPTTL')
`);

/** Closes the windows that began at the time of parameter 1 or before. Key 1 has the windows of an account. */
const reset = createScript(`${readAndFormat}
local atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs = tonumber(ARGV[1]), read(KEYS[1])
if minuteEndsAtMs - ${minuteMs} <= atMs then minuteUsed, minuteEndsAtMs = 0, 0 end
if dayEndsAtMs - ${dayMs} <= atMs then dayUsed, dayEndsAtMs = 0, 0 end
redis.call('SET', KEYS[1], format(minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs), 'XX', 'KEEPTTL')
`);

/** Redis runs each script atomically. The names are those of the functions that a client then has. */
export const scripts = { takeForKey, takeForAddress, lift, reset };

/** The name of one of `scripts`. */
export type ScriptName = keyof typeof scripts;

function createScript(text: string) {
  return defineScript({
    SCRIPT: text,
    parseCommand(parser: CommandParser, keys: readonly string[], parameters: readonly string[]) {
      parser.push(String(keys.length));
      parser.pushKeys([...keys]);
      parser.push(...parameters);
    },
    transformReply: (reply: unknown) => reply,
  });
}
