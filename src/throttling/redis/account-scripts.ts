import { RedisScript } from '../../platform/redis/redis-script.js';

/**
 * Returns the Redis keys of an account, or of one of the keys of its limits, in the order that the scripts expect. The braces are a hash tag, so that all keys of an
 * account are in one slot of a cluster.
 */
export function accountKeys(accountId: string, key?: string): UseKeys {
  const prefix = key === undefined ? `chat:{${accountId}}` : `chat:{${accountId}}:key:${key}`;
  return [`${prefix}:use`, `${prefix}:streams`, `${prefix}:tokens`];
}

/** The Redis keys of an account, or of one of the keys of its limits. */
type UseKeys = [use: string, streams: string, reservations: string];

/** How long a lease lasts without a renewal. The slots of a killed replica become free after this time. */
export const LEASE_MS = 25_000;
/** How long Redis knows that the used tokens of a lease are counted, so that a repetition of {@link SETTLE} does not count them. */
const SETTLED_MS = 300_000;

/**
 * The common beginning of all scripts. Each account has three keys, and so has each {@link Limit.key} with limits of its own:
 * - KEYS[1], a hash: for each limit with a window, `<name>` units used in the window that ends at `<name>@`; `<name>^` the end of the
 *   day or the month whose used tokens include those used before the counter began; `v` tokens reserved, the sum over KEYS[3];
 * - KEYS[2], the streams: a sorted set of lease ids by expiry;
 * - KEYS[3], the reservations: a sorted set of `<id of the lease>:<tokens>` by expiry, and of `<id of the lease>:settled:0` for leases
 *   whose used tokens are counted.
 *
 * Times are by the clock of Redis, in milliseconds. A script removes the expired entries of its account. Whole keys expire
 * by themselves.
 */
const PRELUDE = `
local LEASE, SETTLED, MINUTE, DAY = ${LEASE_MS}, ${SETTLED_MS}, 60000, 86400000
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local dayEnd = now - now % DAY + DAY
-- The end of the month in UTC. Years begin in March here, so that a leap day is at the end of a year.
local function monthEnd()
  local days = math.floor(now / DAY) + 719468
  local era = math.floor(days / 146097)
  local day = days - era * 146097
  local year = math.floor((day - math.floor(day / 1460) + math.floor(day / 36524) - math.floor(day / 146096)) / 365)
  local function first(y) return 365 * y + math.floor(y / 4) - math.floor(y / 100) end
  local month = math.floor((5 * (day - first(year)) + 2) / 153)
  local nextMonth = month < 11 and first(year) + math.floor((153 * (month + 1) + 2) / 5) or first(year + 1)
  return (era * 146097 + nextMonth - 719468) * DAY
end
local function int(n) return string.format('%.0f', n) end

local function tokensOf(members)
  local sum = 0
  for _, member in ipairs(members) do sum = sum + tonumber(string.match(member, ':(%d+)$')) end
  return sum
end

-- Tokens reserved by leases that live. sum: the sum that was written last, or nil.
local function reserved(reservations, sum)
  local dead = redis.call('ZRANGEBYSCORE', reservations, '-inf', int(now))
  if #dead > 0 then redis.call('ZREMRANGEBYSCORE', reservations, '-inf', int(now)) end
  if sum then return sum - tokensOf(dead) end
  return tokensOf(redis.call('ZRANGE', reservations, 0, -1))
end
local function reservedSum() return reserved(KEYS[3], tonumber(redis.call('HGET', KEYS[1], 'v'))) end

-- Units used in the current window, and the end of the window.
local function current(window, used, windowEnd)
  windowEnd = tonumber(windowEnd) or 0
  if windowEnd > now then return tonumber(used), windowEnd end
  if window == 'month' then return 0, monthEnd() end
  return 0, window == 'day' and dayEnd or now + MINUTE
end

-- Keeps a key for some time after a moment, and never shorter than before.
local function keepUntil(key, moment)
  local wanted = moment - now + 2 * LEASE
  if redis.call('PTTL', key) < wanted then redis.call('PEXPIRE', key, wanted) end
end
local function expireAfterDay(use) keepUntil(use, dayEnd) end
`;

/** The outcome of {@link ADMIT} for an admitted request. A positive outcome is the position of the limit that refuses, from 1. */
export const ADMITTED = 0;
/** The outcome of {@link ADMIT} when nothing is counted yet. Call the script again with the tokens that were used before. */
export const UNSEEDED = -1;

/**
 * Admits or refuses a request. KEYS: those of the account, then those of each key with limits of its own.
 *
 * ARGV: id of the lease ('' reads the state only); fewest and most tokens. Then the number of seeds, and for each seed the position of
 * its limit, the tokens used since the beginning of the day or the month ('' unknown), and the end of that day or month. Then for the
 * account, and for each key: the number of limits, and for each limit its name, unit, window, maximum and cost. A negative cost gives
 * units back.
 * Returns: outcome, tokens granted, now in ms; for each limit the units left and the end of the window in ms. If unseeded, the
 * second number is the position of the limit, from 1.
 */
export const ADMIT = new RedisScript(`${PRELUDE}
local id, atLeast, atMost = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local EACH = 5
local nowText = int(now)

-- Reads the counters of the limits whose arguments begin after \`head\`. The fields of the nth of them are at 3n - 1, 3n and 3n + 1.
local function read(at, head)
  local first = head + 1
  local last = head + EACH * tonumber(ARGV[head])
  local fields = {'v'}
  for i = first, last, EACH do
    fields[#fields + 1] = ARGV[i]
    fields[#fields + 1] = ARGV[i] .. '@'
    fields[#fields + 1] = ARGV[i] .. '^'
  end
  local stored = redis.call('HMGET', KEYS[at + 1], unpack(fields))
  return {at = at, first = first, last = last, fields = fields, stored = stored, used = {}, writes = {}, keepUntil = now}
end
local function write(subject, field, value)
  subject.writes[#subject.writes + 1] = field
  subject.writes[#subject.writes + 1] = int(value)
end

local seeds = {}
local head = 5 + 3 * tonumber(ARGV[4])
for i = 5, head - 1, 3 do seeds[tonumber(ARGV[i])] = {tokens = tonumber(ARGV[i + 1]), windowEnd = tonumber(ARGV[i + 2])} end

local subjects = {}
while head <= #ARGV do
  local subject = read(3 * #subjects, head)
  subjects[#subjects + 1] = subject
  head = subject.last + 1
end

local outcome, granted = ${ADMITTED}, atMost
local reply = {outcome, granted, now}
local total = 0
for _, subject in ipairs(subjects) do
  local stored = subject.stored
  local n = 0
  for i = subject.first, subject.last, EACH do
    n, total = n + 1, total + 1
    local unit, window, needed, held = ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 4]), 0
    local windowEnd = 0
    local used = 0
    if window ~= 'none' then
      used, windowEnd = current(window, stored[3 * n - 1], stored[3 * n])
      if windowEnd > subject.keepUntil then subject.keepUntil = windowEnd end
    end
    if unit == 'streams' then
      redis.call('ZREMRANGEBYSCORE', KEYS[subject.at + 2], '-inf', nowText)
      held = redis.call('ZCARD', KEYS[subject.at + 2])
      subject.streams = true
    elseif unit == 'tokens' then
      subject.tokens = subject.tokens or reserved(KEYS[subject.at + 3], tonumber(stored[1]))
      held, needed = subject.tokens, atLeast
      if (window == 'day' or window == 'month') and tonumber(stored[3 * n + 1]) ~= windowEnd then
        local seed = seeds[total]
        if not seed or (seed.tokens and seed.windowEnd ~= windowEnd) then
          redis.call('HSET', KEYS[subject.at + 1], 'v', int(subject.tokens))
          expireAfterDay(KEYS[subject.at + 1])
          return {${UNSEEDED}, total, now}
        end
        if seed.tokens then
          -- What was settled meanwhile may be in it.
          used = math.max(used, seed.tokens)
          write(subject, subject.fields[3 * n - 1], used)
          write(subject, subject.fields[3 * n], windowEnd)
          write(subject, subject.fields[3 * n + 1], windowEnd)
        end
      end
    end
    subject.used[n] = used
    local left = tonumber(ARGV[i + 3]) - used - held
    if unit == 'tokens' and left < granted then granted = math.max(0, left) end
    if outcome == ${ADMITTED} and math.max(left, 0) < needed then outcome = total end
    reply[2 * total + 2], reply[2 * total + 3] = left, windowEnd
  end
end

local admits = outcome == ${ADMITTED} and id ~= ''
local expiry = int(now + LEASE)
total = 0
for _, subject in ipairs(subjects) do
  local n = 0
  for i = subject.first, subject.last, EACH do
    n, total = n + 1, total + 1
    if admits then
      local unit, windowEnd = ARGV[i + 1], reply[2 * total + 3]
      reply[2 * total + 2] = reply[2 * total + 2] - (unit == 'tokens' and granted or tonumber(ARGV[i + 4]))
      if unit == 'requests' then
        write(subject, subject.fields[3 * n - 1], math.max(0, subject.used[n] + tonumber(ARGV[i + 4])))
      end
      if windowEnd > 0 and tonumber(subject.stored[3 * n]) ~= windowEnd then
        if unit ~= 'requests' then write(subject, subject.fields[3 * n - 1], subject.used[n]) end
        write(subject, subject.fields[3 * n], windowEnd)
      end
    end
  end
  if admits and subject.tokens then
    -- A renewal over a newer connection can arrive first, and has then counted the tokens.
    local isNew = redis.call('ZADD', KEYS[subject.at + 3], expiry, id .. ':' .. int(granted)) == 1
    keepUntil(KEYS[subject.at + 3], now)
    if isNew then subject.tokens = subject.tokens + granted end
  end
  if subject.tokens then write(subject, 'v', subject.tokens) end
  if #subject.writes > 0 then
    redis.call('HSET', KEYS[subject.at + 1], unpack(subject.writes))
    redis.call('PEXPIRE', KEYS[subject.at + 1], subject.keepUntil - now + 2 * LEASE)
  end
  if admits and subject.streams then
    redis.call('ZADD', KEYS[subject.at + 2], expiry, id)
    redis.call('PEXPIRE', KEYS[subject.at + 2], 2 * LEASE)
  end
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
  keepUntil(KEYS[3], now)
  expireAfterDay(KEYS[1])
end
`);

/**
 * Replaces a reservation by the tokens used. A repetition changes nothing.
 *
 * ARGV: id of the lease, tokens it reserved, tokens used, and for each limit of tokens its name and window.
 */
export const SETTLE = new RedisScript(`${PRELUDE}
local sum = reservedSum()
if redis.call('ZREM', KEYS[3], ARGV[1] .. ':' .. ARGV[2]) == 1 then sum = sum - tonumber(ARGV[2]) end
redis.call('HSET', KEYS[1], 'v', int(sum))
if redis.call('ZADD', KEYS[3], 'NX', int(now + SETTLED), ARGV[1] .. ':settled:0') == 1 then
  keepUntil(KEYS[3], now + SETTLED)
  for i = 4, #ARGV, 2 do
    local name = ARGV[i]
    local stored = redis.call('HMGET', KEYS[1], name, name .. '@')
    local used, windowEnd = current(ARGV[i + 1], stored[1], stored[2])
    redis.call('HSET', KEYS[1], name, int(used + tonumber(ARGV[3])), name .. '@', int(windowEnd))
    keepUntil(KEYS[1], windowEnd)
  end
end
expireAfterDay(KEYS[1])
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
