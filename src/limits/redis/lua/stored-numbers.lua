-- A key has four numbers: the windows of a subject as "minuteUsed minuteEndsAtMs dayUsed dayEndsAtMs", or the conduct of
-- an API key as "banAtMs banMs strikes strikesEndAtMs". The values of release 1.1.0 are read too: it wrote the ban of a
-- key as three numbers. A text without numbers counts as zeros.
local function parse(text)
  local a, b, c, d = string.match(text or '', '^(%d+) (%d+) (%d+) ?(%d*)$')
  return tonumber(a) or 0, tonumber(b) or 0, tonumber(c) or 0, tonumber(d) or 0
end

local function read(key) return parse(redis.call('GET', key)) end

local function format(...) return string.format('%.0f %.0f %.0f %.0f', ...) end
