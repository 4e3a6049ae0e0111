#!lua flags=allow-oom
-- KEYS: the entry, the index of keys, the index of ends
-- ARGV: key, version that is expected as 16 digits or nothing
-- Returns 1, or 0 for a conflict.
if ARGV[2] == '' or redis.call('GETRANGE', KEYS[1], 0, 15) ~= ARGV[2] then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
return 1
