-- Both scripts that count begin with this text. Of a batch, the requests that pass come first. A window that ends too
-- late, because the clock was set back, ends a whole window from now.
--
-- - Parameter 1 is the time. If it is empty, the server's clock counts.
-- - Parameters 2 and 3 are the limits per minute and per day, and parameter 4 is the number of requests.
-- - Key 1 has the windows of the subject. If Redis has none, parameter 6 has them, if it is given.
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
minuteEndsAtMs = math.min(minuteEndsAtMs, nowMs + minuteMs)
dayEndsAtMs = math.min(dayEndsAtMs, nowMs + dayMs)

local function pass()
  local passed = math.max(0, math.min(count, perMinute - minuteUsed, perDay - dayUsed))
  if passed > 0 then
    if minuteUsed == 0 then minuteEndsAtMs = nowMs + minuteMs end
    if dayUsed == 0 then dayEndsAtMs = nowMs + dayMs end
    minuteUsed, dayUsed = minuteUsed + passed, dayUsed + passed
  end
  return passed
end

-- Returns the numbers of passed and refused requests, the time, both windows, and the start and the duration of the
-- newest ban. All other requests of the batch were refused because of the ban.
local function answer(passed, refused, banAtMs, banMs)
  write(KEYS[1], math.max(minuteEndsAtMs, dayEndsAtMs), minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs)
  return {passed, refused, nowMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, banAtMs, banMs}
end
