-- KEYS: the index of keys, the index of ends
-- ARGV: what stands before the key of an entry, lower bound, upper bound, how many keys to look at
-- Returns keys and values in turn, and before them the key to go on behind, or nothing at the end.
local keys = redis.call('ZRANGEBYLEX', KEYS[1], ARGV[2], ARGV[3], 'LIMIT', 0, ARGV[4])
local found = {''}
if #keys == tonumber(ARGV[4]) then
  found[1] = keys[#keys]
end
for _, key in ipairs(keys) do
  local value = redis.call('GET', ARGV[1] .. key)
  if value then
    found[#found + 1] = key
    found[#found + 1] = value
  else
    -- It has expired. Reading goes on where a server takes no changes.
    redis.pcall('ZREM', KEYS[1], key)
    redis.pcall('ZREM', KEYS[2], key)
  end
end
return found
