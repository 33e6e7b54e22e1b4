import { RedisScript } from '../../redis/redis-script.js';

/** How long a lease lasts without a renewal. The places of a killed replica become free after this time. */
export const LEASE_MS = 25_000;

/**
 * The common beginning of all scripts. Each account has three keys:
 * - KEYS[1], a hash: `r` requests of the minute that ends at `e`; `u` tokens used on the day `d`; `s` the day for which `u`
 *   includes the tokens used before the counter began; `v` tokens reserved, the sum over KEYS[3];
 * - KEYS[2], the streams: a sorted set of lease ids by expiry;
 * - KEYS[3], the reservations: a sorted set of `<id of the lease>:<tokens>` by expiry.
 *
 * Times are by the clock of Redis, in milliseconds. A script removes the expired entries of its account. Whole keys expire
 * by themselves.
 */
const PRELUDE = `
local LEASE, DAY = ${LEASE_MS}, 86400000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local today = now - now % DAY
local function int(n) return string.format('%.0f', n) end

local function tokensOf(members)
  local sum = 0
  for _, member in ipairs(members) do sum = sum + tonumber(string.match(member, ':(%d+)$')) end
  return sum
end

local function dropDeadStreams() redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', int(now)) end

-- Tokens reserved by leases that live.
local function reserved()
  local dead = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', int(now))
  if #dead > 0 then redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', int(now)) end
  local sum = tonumber(redis.call('HGET', KEYS[1], 'v'))
  if sum then return sum - tokensOf(dead) end
  return tokensOf(redis.call('ZRANGE', KEYS[3], 0, -1))
end

-- Tokens used today, and whether those are in it that were used before the counter began.
local function used()
  local use = redis.call('HMGET', KEYS[1], 'd', 'u', 's')
  if tonumber(use[1]) ~= today then return 0, false end
  return tonumber(use[2]), tonumber(use[3]) == today
end

local function keep(key, ms) redis.call('PEXPIRE', key, int(ms)) end
local function keepDay() keep(KEYS[1], today + DAY - now + 2 * LEASE) end
`;

/** The outcome of {@link ADMIT} for an admitted request. */
export const ADMITTED = 0;
/** The outcome of {@link ADMIT} when nothing is counted yet. Call the script again with the tokens that were used before. */
export const UNSEEDED = 4;
/** The limit that refuses the request, by the outcome of {@link ADMIT}. */
export const REFUSED_BY = [undefined, 'tokens', 'requests', 'streams'] as const;

/**
 * Admits or refuses a request.
 *
 * ARGV: id of the lease ('' reads the state only); limits of requests, streams, tokens (-1: none); fewest and most tokens;
 * the tokens used since the beginning of a day ('?' not asked yet, '' unknown); that day.
 * Returns: outcome, requests left, ms to the next minute, streams left, tokens left, tokens granted, now in ms.
 */
export const ADMIT = new RedisScript(`${PRELUDE}
local id, seed = ARGV[1], ARGV[7]
local requestLimit, streamLimit, tokenLimit = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local atLeast, atMost = tonumber(ARGV[5]), tonumber(ARGV[6])

local requests, minuteEnd = 0, now + 60000
if requestLimit >= 0 then
  local minute = redis.call('HMGET', KEYS[1], 'r', 'e')
  if (tonumber(minute[2]) or 0) > now then requests, minuteEnd = tonumber(minute[1]), tonumber(minute[2]) end
end
local streams = 0
if streamLimit >= 0 then
  dropDeadStreams()
  streams = redis.call('ZCARD', KEYS[2])
end
local usedTokens, reservedTokens = 0, 0
if tokenLimit >= 0 then
  local isSeeded
  usedTokens, isSeeded = used()
  reservedTokens = reserved()
  if not isSeeded then
    if seed == '?' or (seed ~= '' and tonumber(ARGV[8]) ~= today) then
      redis.call('HSET', KEYS[1], 'v', int(reservedTokens))
      keepDay()
      return {${UNSEEDED}, 0, 0, 0, 0, 0, int(now)}
    end
    if seed ~= '' then
      -- What was settled meanwhile may be in it.
      usedTokens = math.max(usedTokens, tonumber(seed))
      redis.call('HSET', KEYS[1], 'd', int(today), 'u', int(usedTokens), 's', int(today))
    end
  end
end

local left = tokenLimit - usedTokens - reservedTokens
local outcome = ${ADMITTED}
if tokenLimit >= 0 and math.max(left, 0) < atLeast then outcome = 1
elseif requestLimit >= 0 and requests >= requestLimit then outcome = 2
elseif streamLimit >= 0 and streams >= streamLimit then outcome = 3 end

local granted = 0
if outcome == ${ADMITTED} and id ~= '' then
  if requestLimit >= 0 then
    requests = requests + 1
    redis.call('HSET', KEYS[1], 'r', requests, 'e', int(minuteEnd))
    if tokenLimit < 0 then keep(KEYS[1], minuteEnd - now + 2 * LEASE) end
  end
  if streamLimit >= 0 then
    streams = streams + 1
    redis.call('ZADD', KEYS[2], int(now + LEASE), id)
    keep(KEYS[2], 2 * LEASE)
  end
  if tokenLimit >= 0 then
    granted = math.max(0, math.min(atMost, left))
    left = left - granted
    redis.call('ZADD', KEYS[3], int(now + LEASE), id .. ':' .. int(granted))
    keep(KEYS[3], 2 * LEASE)
    reservedTokens = reservedTokens + granted
  end
end
if tokenLimit >= 0 then
  redis.call('HSET', KEYS[1], 'v', int(reservedTokens))
  keepDay()
end
return {outcome, requestLimit - requests, minuteEnd - now, streamLimit - streams, left, granted, int(now)}
`);

/**
 * Renews leases. Adds leases that Redis has lost or removed.
 *
 * ARGV: for each lease its id, 1 if it holds a stream's place, and the tokens it reserves (-1: none).
 */
export const RENEW = new RedisScript(`${PRELUDE}
local expiry = int(now + LEASE)
local sum
for i = 1, #ARGV, 3 do
  local id, tokens = ARGV[i], tonumber(ARGV[i + 2])
  if ARGV[i + 1] == '1' then redis.call('ZADD', KEYS[2], expiry, id) end
  if tokens >= 0 then
    sum = sum or reserved()
    if redis.call('ZADD', KEYS[3], expiry, id .. ':' .. int(tokens)) == 1 then sum = sum + tokens end
  end
end
if redis.call('EXISTS', KEYS[2]) == 1 then keep(KEYS[2], 2 * LEASE) end
if sum then
  redis.call('HSET', KEYS[1], 'v', int(sum))
  keep(KEYS[3], 2 * LEASE)
  keepDay()
end
`);

/**
 * Replaces a reservation by the tokens used.
 *
 * ARGV: id of the lease, tokens it reserved, tokens used, 1 if this may be a repetition. A repetition counts only if the
 * reservation still exists.
 */
export const SETTLE = new RedisScript(`${PRELUDE}
local sum = reserved()
local held = redis.call('ZREM', KEYS[3], ARGV[1] .. ':' .. ARGV[2])
if held == 1 then sum = sum - tonumber(ARGV[2]) end
redis.call('HSET', KEYS[1], 'v', int(sum))
if held == 1 or ARGV[4] == '0' then
  local before, isSeeded = used()
  redis.call('HSET', KEYS[1], 'd', int(today), 'u', int(before + tonumber(ARGV[3])))
end
keepDay()
`);

/** Removes a lease that no request holds, because the reply of Redis did not arrive. ARGV: id of the lease. */
export const WITHDRAW = new RedisScript(`${PRELUDE}
redis.call('ZREM', KEYS[2], ARGV[1])
local sum = reserved()
for _, member in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  if string.sub(member, 1, #ARGV[1] + 1) == ARGV[1] .. ':' then
    redis.call('ZREM', KEYS[3], member)
    sum = sum - tokensOf({member})
  end
end
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'v', int(sum)) end
`);
