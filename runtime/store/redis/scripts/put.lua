#!lua
-- KEYS: the entry, the last version, the index of keys, the index of ends
-- ARGV: key, value, version that is expected as 16 digits or nothing, milliseconds to live or 0
-- Returns the new version, or 0 for a conflict.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Whatever has expired leaves the indexes: more than one for each that comes, so that they cannot grow without bound.
local gone = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', '(' .. string.format('%.0f', now), 'LIMIT', 0, 16)
if #gone > 0 then
  redis.call('ZREM', KEYS[3], unpack(gone))
  redis.call('ZREM', KEYS[4], unpack(gone))
end

if redis.call('GETRANGE', KEYS[1], 0, 15) ~= ARGV[3] then
  return 0
end

-- By the clock where that is ahead: then versions do not come again when a failover or a flush loses the last one.
local version = math.max(time[1] * 1000000 + time[2], (tonumber(redis.call('GET', KEYS[2]) or 0) or 0) + 1)
redis.call('SET', KEYS[2], string.format('%.0f', version))

local value = string.format('%016.0f', version) .. ARGV[2]
local ttl = tonumber(ARGV[4])
if ttl > 0 then
  local ends = string.format('%.0f', now + ttl)
  redis.call('SET', KEYS[1], value, 'PXAT', ends)
  redis.call('ZADD', KEYS[4], ends, ARGV[1])
else
  redis.call('SET', KEYS[1], value)
  redis.call('ZREM', KEYS[4], ARGV[1])
end
redis.call('ZADD', KEYS[3], 0, ARGV[1])
return version
