import { createHash } from 'node:crypto';
import { dayMs, minuteMs } from '../../clock.ts';
import { banMsMax, banMsMin, ladderMs, strikesMin, strikesMs } from '../rules/bans.ts';
import { ownCountMsMin } from '../rules/windows.ts';

/** A script that Redis runs atomically. After the first run, Redis knows the script by its SHA-1. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

/** Sets `nowMs` to the first parameter. If the parameter is empty, uses the server's clock. */
const time = `
local nowMs = tonumber(ARGV[1])
if not nowMs then
  local time = redis.call('TIME')
  nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

/**
 * Like `closeEnded` in windows.ts. Windows are stored as "minuteUsed minuteEndsAtMs dayUsed dayEndsAtMs". If Redis has
 * no windows of the subject, uses the windows that the caller has kept.
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

local function answer(passed, refused, bannedUntilMs)
  return {passed, refused, nowMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, bannedUntilMs}
end
`;

/**
 * Like `takeFromBoth` in windows.ts, for `count` requests. Parameters 2 and 3 are the limits per minute and per day.
 * Within a batch, the requests that pass come before the requests that do not.
 */
const takeFromBoth = `
local room = math.min(tonumber(ARGV[2]) - minuteUsed, tonumber(ARGV[3]) - dayUsed)
local passed = math.max(0, math.min(count, room))
if passed > 0 then
  if minuteUsed == 0 then minuteEndsAtMs = nowMs + ${minuteMs} end
  if dayUsed == 0 then dayEndsAtMs = nowMs + ${dayMs} end
  minuteUsed, dayUsed = minuteUsed + passed, dayUsed + passed
  keepWindows()
end
`;

/**
 * Like `bannedUntilMs` in bans.ts. A ban and its strikes are stored as "banAtMs banMs strikeCount".
 *
 * The stored ban is merged with the ban that the caller kept, if this ban began after the last lift. The later expiry
 * applies. If the two bans began less than a day apart, the longer duration applies too, so that the next ban is longer
 * still. A current ban has no strikes.
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
local callersAtMs, callersMs
if callersBan ~= '' then callersAtMs, callersMs = string.match(callersBan, '(%d+) (%d+)') end
if callersAtMs and tonumber(callersAtMs) > tonumber(redis.call('GET', KEYS[4]) or 0) then
  local atMs, lengthMs = math.min(callersAtMs, nowMs), tonumber(callersMs)
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
 * Like `strike` in bans.ts, for each request that did not pass, until a ban begins. The strikes are a list in the
 * order of time. It alternates between a millisecond and the number of refused requests in that millisecond.
 *
 * Old strikes are read and deleted in runs of 64 items, because there may be tens of thousands.
 */
const strike = `
local last = redis.call('LRANGE', KEYS[3], -2, -1)
local isOfNow = tonumber(last[1]) == nowMs
if not isOfNow then
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
end

local strikesMax = math.max(${strikesMin}, tonumber(ARGV[2]))
local refused = math.min(count - passed, math.max(1, strikesMax - strikeCount))
strikeCount = strikeCount + refused

if strikeCount < strikesMax then
  if isOfNow then
    redis.call('LSET', KEYS[3], -1, last[2] + refused)
  else
    redis.call('RPUSH', KEYS[3], string.format('%.0f', nowMs), refused)
  end
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
 * Like address-counts.ts. The index is a sorted set of the addresses with their own counts. The score is the end of
 * the day window. Parameter 4 is the maximum size of the index. All addresses of an index share its hash tag, so that
 * the script may delete their keys in a cluster.
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

/** Like `closeShared` in windows.ts. */
const closeShared = `
if windows == shared and minuteUsed == 0 then dayUsed, dayEndsAtMs = 0, 0 end
`;

/**
 * Decides on a batch of requests of one key.
 *
 * Keys:
 * - the windows of the account
 * - the ban of the key
 * - the strikes of the key
 * - the time of the last lift of the key; only needed with parameters 5 and 6
 *
 * Parameters:
 * 1. time; if empty, the server's clock
 * 2. limit per minute
 * 3. limit per day
 * 4. number of requests
 * 5. windows that the caller kept; may be empty. They apply if Redis has no windows of the account.
 * 6. ban that the caller kept; may be empty. It applies if it expires later than the ban in Redis and began after
 *    the last lift.
 *
 * Every script except `liftScript` returns a list:
 * - number of passed requests
 * - number of refused requests
 * - time
 * - both windows, as four numbers
 * - expiry of the current ban; 0 if there is none
 *
 * All other requests of the batch were refused because of the ban.
 */
export const takeForKeyScript = createScript(`${time}
local count = tonumber(ARGV[4])
local windows, callersWindows, callersBan = KEYS[1], ARGV[5] or '', ARGV[6] or ''
${openWindows}${openBan}
if bannedUntilMs > nowMs then return answer(0, 0, bannedUntilMs) end
${takeFromBoth}
if passed == count then return answer(passed, 0, 0) end
${strike}
return answer(passed, refused, bannedUntilMs > nowMs and bannedUntilMs or 0)
`);

/**
 * Decides on one request of an address.
 *
 * Keys:
 * - the windows of the address
 * - the index of addresses with their own counts
 * - the shared windows
 *
 * Parameters:
 * 1. time; if empty, the server's clock
 * 2. limit per minute
 * 3. limit per day
 * 4. maximum size of the index
 */
export const takeForAddressScript = createScript(`${time}
local count = 1
${placeAddress}${openWindows}${closeShared}${takeFromBoth}
if passed == 1 and dayUsed == 1 and windows == own then
  redis.call('ZREMRANGEBYSCORE', index, '-inf', string.format('%.0f', nowMs))
  if leaving then
    redis.call('DEL', leaving)
    redis.call('ZREM', index, leaving)
  end
  redis.call('ZADD', index, string.format('%.0f', dayEndsAtMs), own)
  redis.call('PEXPIRE', index, ${dayMs})
end
return answer(passed, 1 - passed, 0)
`);

/** Returns the usage of an address. Keys and parameters as for `takeForAddressScript`. Counts nothing. */
export const peekAddressScript = createScript(`${time}${placeAddress}${openWindows}${closeShared}
return answer(1, 0, 0)
`);

/** Returns the usage of an account. Keys as for `takeForKeyScript`. The only parameter is the time. Counts nothing. */
export const lookScript = createScript(`${time}
local windows, callersWindows = KEYS[1], ''
${openWindows}
return answer(1, 0, 0)
`);

/**
 * Deletes the ban and the strikes of a key, and records when it did. Does nothing if this lift, or a later one, was
 * applied before. Returns the recorded time. It is never earlier than a copy of the ban that an instance has kept.
 *
 * Keys as for `takeForKeyScript`. Parameter 1 is the time, and parameter 2 the time of the lift by the operator's clock.
 * The record lasts longer than the lift in the store, even if the two clocks differ by minutes.
 */
export const liftScript = createScript(`${time}
local atMs = tonumber(ARGV[2])
local liftedAtMs = tonumber(redis.call('GET', KEYS[4]) or 0)
if liftedAtMs < atMs then
  liftedAtMs = math.max(nowMs, atMs)
  redis.call('DEL', KEYS[2], KEYS[3])
  redis.call('SET', KEYS[4], string.format('%.0f', liftedAtMs), 'PX', ${2 * banMsMax})
end
return liftedAtMs
`);

function createScript(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}
