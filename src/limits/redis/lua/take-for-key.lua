-- Decides on a batch of requests of one key. With a batch of 0, only reads. Key 2 has the conduct of the key. Parameter 5
-- is the number of strikes that ban the key.
local banAtMs, banMs, strikes, strikesEndAtMs = read(KEYS[2])
banAtMs = math.min(banAtMs, nowMs)
if nowMs >= banAtMs + ladderMs then banAtMs, banMs = 0, 0 end
if strikesEndAtMs <= nowMs or strikesEndAtMs > nowMs + strikesMs then strikes, strikesEndAtMs = 0, 0 end

local passed, refused = 0, 0
if banAtMs + banMs <= nowMs then
  passed = pass()
  local strikesLeft = math.max(1, tonumber(ARGV[5]) - strikes)
  refused = math.min(count - passed, strikesLeft)
  if refused > 0 and strikes == 0 then strikesEndAtMs = nowMs + strikesMs end
  strikes = strikes + refused
  if refused == strikesLeft then
    banAtMs, banMs = nowMs, math.min(math.max(2 * banMs, banMsMin), banMsMax)
    strikes, strikesEndAtMs = 0, 0
  end
end
local forgetAtMs = math.max(strikesEndAtMs, banMs > 0 and banAtMs + ladderMs or 0)
write(KEYS[2], forgetAtMs, banAtMs, banMs, strikes, strikesEndAtMs)
return answer(passed, refused, banAtMs, banMs)
