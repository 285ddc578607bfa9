import { createHash } from 'node:crypto';
import { dayMs, minuteMs } from '../../clock.ts';
import { banMsMax, banMsMin, ladderMs, strikesMin, strikesMs } from '../rules/bans.ts';
import { ownCountMsMin } from '../rules/windows.ts';

/** A program that Redis runs as one atomic step, and the name by which Redis knows it once it has run it. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

/** The first parameter is the time that counts; an empty one stands for the server's own. */
const time = `
local nowMs = tonumber(ARGV[1])
if not nowMs then
  local time = redis.call('TIME')
  nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * As closeEnded of windows.ts, on windows that are kept as "minuteUsed minuteEndsAtMs dayUsed dayEndsAtMs"; where there
 * are none, on those that the caller has kept.
 */
const openWindows = `
local minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs = 0, 0, 0, 0

local function keepWindows()
  local text = string.format('%.0f %.0f %.0f %.0f', minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs)
  redis.call('SET', windows, text, 'PX', math.max(minuteEndsAtMs, dayEndsAtMs) - nowMs)
end

local kept = redis.call('GET', windows)
local isNew = not kept and callersWindows ~= ''
if isNew then kept = callersWindows end
if kept then
  local numbers = string.gmatch(kept, '%d+')
  minuteUsed, minuteEndsAtMs = tonumber(numbers()), tonumber(numbers())
  dayUsed, dayEndsAtMs = tonumber(numbers()), tonumber(numbers())
  if minuteEndsAtMs <= nowMs then minuteUsed, minuteEndsAtMs = 0, 0 end
  if dayEndsAtMs <= nowMs then dayUsed, dayEndsAtMs = 0, 0 end
  if minuteEndsAtMs > nowMs + ${minuteMs} or dayEndsAtMs > nowMs + ${dayMs} then
    minuteEndsAtMs = math.min(minuteEndsAtMs, nowMs + ${minuteMs})
    dayEndsAtMs = math.min(dayEndsAtMs, nowMs + ${dayMs})
    isNew = true
  end
  if isNew and math.max(minuteEndsAtMs, dayEndsAtMs) > nowMs then keepWindows() end
end

local function answer(verdict, bannedUntilMs)
  return {verdict, nowMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, bannedUntilMs}
end
`;

/** As takeFromBoth of windows.ts; the second and third parameter are the requests a minute and a day. */
const takeFromBoth = `
local hasRoom = minuteUsed < tonumber(ARGV[2]) and dayUsed < tonumber(ARGV[3])
if hasRoom then
  if minuteUsed == 0 then minuteEndsAtMs = nowMs + ${minuteMs} end
  if dayUsed == 0 then dayEndsAtMs = nowMs + ${dayMs} end
  minuteUsed, dayUsed = minuteUsed + 1, dayUsed + 1
  keepWindows()
end
`;

/**
 * As bannedUntilMs of bans.ts, on a ban and its strikes that are kept as "banAtMs banMs strikeCount". Of that ban
 * and the one that the caller has kept, the later end holds. If they began within a day of each other, it is the end of
 * the longer, so that the next is longer still. A ban that holds leaves no strikes.
 */
const openBan = `
local banAtMs, banMs, strikeCount = 0, 0, 0

local function keepBan()
  local forgetMs = math.max(banMs > 0 and banAtMs + ${ladderMs} - nowMs or 0, ${strikesMs})
  redis.call('SET', KEYS[2], string.format('%.0f %.0f %.0f', banAtMs, banMs, strikeCount), 'PX', forgetMs)
end

local kept = redis.call('GET', KEYS[2])
local isNewBan = false
if kept then
  local numbers = string.gmatch(kept, '%d+')
  banAtMs, banMs, strikeCount = tonumber(numbers()), tonumber(numbers()), tonumber(numbers())
  isNewBan = banAtMs > nowMs
  banAtMs = math.min(banAtMs, nowMs)
end
if callersBan ~= '' then
  local numbers = string.gmatch(callersBan, '%d+')
  local atMs, lengthMs = math.min(tonumber(numbers()), nowMs), tonumber(numbers())
  local isLater = atMs + lengthMs > banAtMs + banMs
  local endsAtMs = math.max(atMs + lengthMs, banAtMs + banMs)
  local longestMs = isLater and lengthMs or banMs
  if math.abs(atMs - banAtMs) < ${ladderMs} then longestMs = math.max(lengthMs, banMs) end
  if isLater or longestMs > banMs then
    banAtMs, banMs, isNewBan = endsAtMs - longestMs, longestMs, true
    if endsAtMs > nowMs then
      strikeCount = 0
      redis.call('DEL', KEYS[3])
    end
  end
end
if isNewBan then keepBan() end
local bannedUntilMs = banAtMs + banMs
`;

/**
 * As strike of bans.ts. The strikes are a list: each millisecond, and how many requests were refused in it, in the order
 * of time. Those that are too old go by the run, as there may be tens of thousands.
 */
const strike = `
local last = redis.call('LRANGE', KEYS[3], -2, -1)
if tonumber(last[1]) == nowMs then
  redis.call('LSET', KEYS[3], -1, last[2] + 1)
else
  local runLength = 64
  repeat
    local run = redis.call('LRANGE', KEYS[3], 0, runLength - 1)
    local old = 0
    while old < #run do
      local atMs = tonumber(run[old + 1])
      if atMs > nowMs - ${strikesMs} and atMs <= nowMs then break end
      strikeCount = strikeCount - run[old + 2]
      old = old + 2
    end
    if old > 0 then redis.call('LTRIM', KEYS[3], old, -1) end
    if #run == 0 then strikeCount = 0 end
  until old < runLength
  redis.call('RPUSH', KEYS[3], string.format('%.0f', nowMs), 1)
end
strikeCount = strikeCount + 1

if strikeCount < math.max(${strikesMin}, tonumber(ARGV[2])) then
  redis.call('PEXPIRE', KEYS[3], ${strikesMs})
else
  local isRepeated = banMs > 0 and nowMs < banAtMs + ${ladderMs}
  banMs = isRepeated and math.min(2 * banMs, ${banMsMax}) or ${banMsMin}
  banAtMs = nowMs
  bannedUntilMs = banAtMs + banMs
  strikeCount = 0
  redis.call('DEL', KEYS[3])
end
keepBan()
`;

/**
 * As address-counts.ts. The index has the ends of the days of the addresses that are counted each by itself, as many as
 * the fourth parameter. All of its members lie in its own slot of a cluster.
 */
const placeAddress = `
local own, index, shared, callersWindows = KEYS[1], KEYS[2], KEYS[3], ''
local windows, leaving = own, nil
if redis.call('EXISTS', own) == 0 then
  local open = string.format('(%.0f', nowMs)
  if redis.call('ZCOUNT', index, open, '+inf') >= tonumber(ARGV[4]) then
    local oldest = redis.call('ZRANGEBYSCORE', index, open, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if oldest[2] and tonumber(oldest[2]) <= nowMs + ${dayMs - ownCountMsMin} then
      leaving = oldest[1]
    else
      windows = shared
    end
  end
end
`;

/** As closeShared of windows.ts. */
const closeShared = `
if windows == shared and minuteUsed == 0 then dayUsed, dayEndsAtMs = 0, 0 end
`;

/**
 * Keys: the windows of an account, the ban and the strikes of its key. Parameters: time, requests a minute, a day; if
 * the caller has kept any, the windows that count where there are none and the ban that counts where none ends later, or
 * an empty text for either.
 */
export const takeForKeyScript = createScript(`${time}
local windows, callersWindows, callersBan = KEYS[1], ARGV[4] or '', ARGV[5] or ''
${openWindows}${openBan}
if bannedUntilMs > nowMs then return answer('banned', bannedUntilMs) end
${takeFromBoth}
if hasRoom then return answer('passed', 0) end
${strike}
return answer('refused', bannedUntilMs > nowMs and bannedUntilMs or 0)
`);

/**
 * Keys: the windows of an address, the index of the addresses that are counted each by itself, the windows of the
 * others. Parameters: time, requests a minute, a day, how many addresses the index may hold.
 */
export const takeForAddressScript =
  createScript(`${time}${placeAddress}${openWindows}${closeShared}${takeFromBoth}
if hasRoom and dayUsed == 1 and windows == own then
  redis.call('ZREMRANGEBYSCORE', index, '-inf', string.format('%.0f', nowMs))
  if leaving then
    redis.call('DEL', leaving)
    redis.call('ZREM', index, leaving)
  end
  redis.call('ZADD', index, string.format('%.0f', dayEndsAtMs), own)
  redis.call('PEXPIRE', index, ${dayMs})
end
return answer(hasRoom and 'passed' or 'refused', 0)
`);

/** Keys and parameters as before; counts nothing. */
export const peekAddressScript = createScript(`${time}${placeAddress}${openWindows}${closeShared}
return answer('passed', 0)
`);

function createScript(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}
