-- Decides on one request of an address. With a batch of 0, only reads.
--
-- - Key 2 is the index of addresses: a sorted set with the time of the last request of each.
-- - Parameter 5 is the maximum number of addresses. Beyond, the one seen longest ago is forgotten.
local passed = pass()
if count > 0 then
  redis.call('ZADD', KEYS[2], string.format('%.0f', nowMs), KEYS[1])
  redis.call('PEXPIRE', KEYS[2], dayMs)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', nowMs - dayMs))
  if redis.call('ZCARD', KEYS[2]) > tonumber(ARGV[5]) then redis.call('DEL', redis.call('ZPOPMIN', KEYS[2])[1]) end
end
return answer(passed, count - passed, 0, 0)
