-- Forgets the ban and the strikes that began at the time of parameter 1 or before. Key 1 has the conduct of a key.
local atMs, banAtMs, banMs, strikes, strikesEndAtMs = tonumber(ARGV[1]), read(KEYS[1])
if banAtMs <= atMs then banAtMs, banMs = 0, 0 end
if strikesEndAtMs - strikesMs <= atMs then strikes, strikesEndAtMs = 0, 0 end
redis.call('SET', KEYS[1], format(banAtMs, banMs, strikes, strikesEndAtMs), 'XX', 'KEEPTTL')
