-- Closes the windows that began at the time of parameter 1 or before. Key 1 has the windows of an account.
local atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs = tonumber(ARGV[1]), read(KEYS[1])
if minuteEndsAtMs - minuteMs <= atMs then minuteUsed, minuteEndsAtMs = 0, 0 end
if dayEndsAtMs - dayMs <= atMs then dayUsed, dayEndsAtMs = 0, 0 end
redis.call('SET', KEYS[1], format(minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs), 'XX', 'KEEPTTL')
