#!lua
-- The same as store.TakeAll and store.Counter; a test holds them against each other.
-- KEYS: the counters
-- ARGV: the time in milliseconds (tests alone; counters are kept for good then) or nothing, and for each counter: n, limit,
--       milliseconds of a slot or 0, milliseconds since 1970 at which the period ends
-- Returns for each counter: used, whether the claim was refused, when it is free.
local most = 9007199254740991 -- what a number here can count to
local given = ARGV[1] ~= ''
local now
if given then
  now = tonumber(ARGV[1])
else
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- parse returns nothing for what write did not write: a damaged counter must not become one that allows more.
local function parse(text)
  local numbers = {}
  if text then
    for number in string.gmatch(text, '%S+') do
      if not string.find(number, '^%d+$') then
        return
      end
      numbers[#numbers + 1] = tonumber(number)
    end
    if #numbers < 3 or #numbers > 13 then
      return
    end
  end
  local counter = {ends = numbers[1] or 0, slot = numbers[2] or 0}
  for i = 1, 11 do
    counter[i] = numbers[i + 2] or 0
  end
  return counter
end

local function write(counter)
  local last = 11
  while last > 1 and counter[last] == 0 do
    last = last - 1
  end
  local numbers = {string.format('%.0f', counter.ends), string.format('%.0f', counter.slot)}
  for i = 1, last do
    numbers[i + 2] = string.format('%.0f', counter[i])
  end
  return table.concat(numbers, ' ')
end

local function move(counter, slot, ends)
  if slot == 0 then
    if ends > counter.ends then
      counter.ends, counter.slot = ends, 0
      for i = 1, 11 do
        counter[i] = 0
      end
    end
    return
  end
  local number = math.floor(now / slot)
  local passed = number - counter.slot
  if passed <= 0 then
    return
  end
  counter.slot = number
  for i = 11, 1, -1 do
    counter[i] = i > passed and counter[i - passed] or 0
  end
end

local function free(counter, used, n, limit, slot)
  if slot == 0 then
    return counter.ends
  end
  local oldest = 11
  while oldest > 1 do
    used = used - counter[oldest]
    if used + math.max(n, 1) <= limit then
      break
    end
    oldest = oldest - 1
  end
  return (counter.slot + 12 - oldest) * slot
end

local counters, before, counts, taken = {}, {}, {}, true
for i, key in ipairs(KEYS) do
  local at = 4 * i - 2
  local n, limit, slot, ends = tonumber(ARGV[at]), tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local counter = parse(redis.call('GET', key))
  if not counter then
    return redis.error_reply('AQLDAMAGED a counter is damaged')
  end
  move(counter, slot, ends)
  local used = 0
  for part = 1, 11 do
    used = used + counter[part]
  end
  counters[i], before[i] = counter, used
  local refused, again = 0, 0
  if n < 0 then
    local left = -n
    if slot == 0 and ends < counter.ends then
      left = 0 -- what was taken is gone with its period, and what is there is others'
    end
    for part = 11, 1, -1 do
      local back = math.min(counter[part], left)
      counter[part], left, used = counter[part] - back, left - back, used - back
    end
  elseif limit > 0 and used + math.max(n, 1) > limit then
    refused, again, taken = 1, free(counter, used, n, limit, slot), false
  elseif used + n > most then
    return redis.error_reply('AQLRANGE the counter would be too large')
  else
    counter[1], used = counter[1] + n, used + n
  end
  counts[i] = {used, refused, again}
end

for i, key in ipairs(KEYS) do
  local at = 4 * i - 2
  if not taken then
    counts[i][1] = before[i]
  elseif ARGV[at] ~= '0' then
    local slot, keep = tonumber(ARGV[at + 2])
    if slot == 0 then
      -- By the counter: a claim of a clock that is behind must not make it forget its later period.
      keep = math.max(counters[i].ends - now, 0) + 60000
    else
      keep = slot * 11 + 1000
    end
    if given then
      redis.call('SET', key, write(counters[i]))
    else
      redis.call('SET', key, write(counters[i]), 'PX', string.format('%.0f', keep))
    end
  end
end
return counts
