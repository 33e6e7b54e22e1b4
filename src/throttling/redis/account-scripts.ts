import { RedisScript } from '../../redis/redis-script.js';

/** How long a lease lasts without a renewal. The slots of a killed replica become free after this time. */
export const LEASE_MS = 25_000;

/**
 * The common beginning of all scripts. Each account has three keys:
 * - KEYS[1], a hash: for each limit with a window, `<name>` units used in the window that ends at `<name>@`; `s` the end of the
 *   day whose used tokens include those used before the counter began; `v` tokens reserved, the sum over KEYS[3];
 * - KEYS[2], the streams: a sorted set of lease ids by expiry;
 * - KEYS[3], the reservations: a sorted set of `<id of the lease>:<tokens>` by expiry.
 *
 * Times are by the clock of Redis, in milliseconds. A script removes the expired entries of its account. Whole keys expire
 * by themselves.
 */
const PRELUDE = `
local LEASE, MINUTE, DAY = ${LEASE_MS}, 60000, 86400000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local dayEnd = now - now % DAY + DAY
local function int(n) return string.format('%.0f', n) end

local function tokensOf(members)
  local sum = 0
  for _, member in ipairs(members) do sum = sum + tonumber(string.match(member, ':(%d+)$')) end
  return sum
end

-- Tokens reserved by leases that live. sum: the sum that was written last, or nil.
local function reserved(sum)
  local dead = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', int(now))
  if #dead > 0 then redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', int(now)) end
  if sum then return sum - tokensOf(dead) end
  return tokensOf(redis.call('ZRANGE', KEYS[3], 0, -1))
end
local function reservedSum() return reserved(tonumber(redis.call('HGET', KEYS[1], 'v'))) end

-- Units used in the current window, and the end of the window.
local function current(window, used, windowEnd)
  windowEnd = tonumber(windowEnd) or 0
  if windowEnd > now then return tonumber(used), windowEnd end
  return 0, window == 'day' and dayEnd or now + MINUTE
end

local function expireAfterDay() redis.call('PEXPIRE', KEYS[1], dayEnd - now + 2 * LEASE) end
`;

/** The outcome of {@link ADMIT} for an admitted request. A positive outcome is the position of the limit that refuses, from 1. */
export const ADMITTED = 0;
/** The outcome of {@link ADMIT} when nothing is counted yet. Call the script again with the tokens that were used before. */
export const UNSEEDED = -1;

/**
 * Admits or refuses a request.
 *
 * ARGV: id of the lease ('' reads the state only); fewest and most tokens; the tokens used since the beginning of a day ('?' not
 * asked yet, '' unknown); the end of that day; for each limit its name, unit, window and maximum.
 * Returns: outcome, tokens granted, now in ms; for each limit the units left and the end of the window in ms.
 */
export const ADMIT = new RedisScript(`${PRELUDE}
local id, atLeast, atMost, seed = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local FIRST, EACH = 6, 4
local nowText = int(now)

-- The fields of limit n are at 2n + 1 (units used) and 2n + 2 (end of the window).
local fields = {'v', 's'}
for i = FIRST, #ARGV, EACH do
  fields[#fields + 1] = ARGV[i]
  fields[#fields + 1] = ARGV[i] .. '@'
end
local stored = redis.call('HMGET', KEYS[1], unpack(fields))
local writes = {}
local function write(field, value)
  writes[#writes + 1] = field
  writes[#writes + 1] = int(value)
end

local outcome, granted, keepUntil = ${ADMITTED}, atMost, now
local reply = {outcome, granted, now}
local used, streams, tokens = {}, nil, nil
local n = 0
for i = FIRST, #ARGV, EACH do
  n = n + 1
  local unit, window, needed, held = ARGV[i + 1], ARGV[i + 2], 1, 0
  local windowEnd = 0
  used[n] = 0
  if window ~= 'none' then
    used[n], windowEnd = current(window, stored[2 * n + 1], stored[2 * n + 2])
    if windowEnd > keepUntil then keepUntil = windowEnd end
  end
  if unit == 'streams' then
    redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', nowText)
    streams = redis.call('ZCARD', KEYS[2])
    held = streams
  elseif unit == 'tokens' then
    tokens = tokens or reserved(tonumber(stored[1]))
    held, needed = tokens, atLeast
    if window == 'day' and tonumber(stored[2]) ~= windowEnd then
      if seed == '?' or (seed ~= '' and tonumber(ARGV[5]) ~= windowEnd) then
        redis.call('HSET', KEYS[1], 'v', int(tokens))
        expireAfterDay()
        return {${UNSEEDED}, 0, now}
      end
      if seed ~= '' then
        -- What was settled meanwhile may be in it.
        used[n] = math.max(used[n], tonumber(seed))
        write('s', windowEnd)
        write(fields[2 * n + 1], used[n])
        write(fields[2 * n + 2], windowEnd)
      end
    end
  end
  local left = tonumber(ARGV[i + 3]) - used[n] - held
  if unit == 'tokens' and left < granted then granted = math.max(0, left) end
  if outcome == ${ADMITTED} and math.max(left, 0) < needed then outcome = n end
  reply[2 * n + 2], reply[2 * n + 3] = left, windowEnd
end

if outcome == ${ADMITTED} and id ~= '' then
  n = 0
  for i = FIRST, #ARGV, EACH do
    n = n + 1
    local unit, windowEnd = ARGV[i + 1], reply[2 * n + 3]
    reply[2 * n + 2] = reply[2 * n + 2] - (unit == 'tokens' and granted or 1)
    if unit == 'requests' then write(fields[2 * n + 1], used[n] + 1) end
    if windowEnd > 0 and tonumber(stored[2 * n + 2]) ~= windowEnd then
      if unit ~= 'requests' then write(fields[2 * n + 1], used[n]) end
      write(fields[2 * n + 2], windowEnd)
    end
  end
  local expiry = int(now + LEASE)
  if streams then
    redis.call('ZADD', KEYS[2], expiry, id)
    redis.call('PEXPIRE', KEYS[2], 2 * LEASE)
  end
  if tokens then
    redis.call('ZADD', KEYS[3], expiry, id .. ':' .. int(granted))
    redis.call('PEXPIRE', KEYS[3], 2 * LEASE)
    tokens = tokens + granted
  end
end
if tokens then write('v', tokens) end
if #writes > 0 then
  redis.call('HSET', KEYS[1], unpack(writes))
  redis.call('PEXPIRE', KEYS[1], keepUntil - now + 2 * LEASE)
end
reply[1], reply[2] = outcome, granted
return reply
`);

/**
 * Renews leases. Adds leases that Redis has lost or removed.
 *
 * ARGV: for each lease its id, 1 if it holds a stream's slot, and the tokens it reserves (-1: none).
 */
export const RENEW = new RedisScript(`${PRELUDE}
local expiry = int(now + LEASE)
local sum
for i = 1, #ARGV, 3 do
  local id, tokens = ARGV[i], tonumber(ARGV[i + 2])
  if ARGV[i + 1] == '1' then redis.call('ZADD', KEYS[2], expiry, id) end
  if tokens >= 0 then
    sum = sum or reservedSum()
    if redis.call('ZADD', KEYS[3], expiry, id .. ':' .. int(tokens)) == 1 then sum = sum + tokens end
  end
end
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('PEXPIRE', KEYS[2], 2 * LEASE) end
if sum then
  redis.call('HSET', KEYS[1], 'v', int(sum))
  redis.call('PEXPIRE', KEYS[3], 2 * LEASE)
  expireAfterDay()
end
`);

/**
 * Replaces a reservation by the tokens used.
 *
 * ARGV: id of the lease, tokens it reserved, tokens used, 1 if this may be a repetition, and for each limit of tokens its name
 * and window. A repetition counts only if the reservation still exists.
 */
export const SETTLE = new RedisScript(`${PRELUDE}
local sum = reservedSum()
local held = redis.call('ZREM', KEYS[3], ARGV[1] .. ':' .. ARGV[2])
if held == 1 then sum = sum - tonumber(ARGV[2]) end
redis.call('HSET', KEYS[1], 'v', int(sum))
if held == 1 or ARGV[4] == '0' then
  for i = 5, #ARGV, 2 do
    local name = ARGV[i]
    local stored = redis.call('HMGET', KEYS[1], name, name .. '@')
    local used, windowEnd = current(ARGV[i + 1], stored[1], stored[2])
    redis.call('HSET', KEYS[1], name, int(used + tonumber(ARGV[3])), name .. '@', int(windowEnd))
  end
end
expireAfterDay()
`);

/** Removes a lease that no request holds, because the reply of Redis did not arrive. ARGV: id of the lease. */
export const WITHDRAW = new RedisScript(`${PRELUDE}
redis.call('ZREM', KEYS[2], ARGV[1])
local sum = reservedSum()
for _, member in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  if string.sub(member, 1, #ARGV[1] + 1) == ARGV[1] .. ':' then
    redis.call('ZREM', KEYS[3], member)
    sum = sum - tokensOf({member})
  end
end
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'v', int(sum)) end
`);
