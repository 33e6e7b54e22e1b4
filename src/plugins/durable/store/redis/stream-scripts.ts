import { RedisScript } from '../../../../plugin-api/core/redis.js';

/** The keys of one stream. The braces are a hash tag, so that all keys of a stream are in one slot of a cluster. */
export interface StreamKeys {
  /**
   * A hash. `gen`: the id of this generation. `state`: see {@link StreamState}. `until`: how long the owner holds the claim
   * without a renewal. `cancel`: set when a reader wants the generation to stop. `seen`: set when a reader on another replica has got
   * the head. `wrap`: the secret of the stream, sealed with
   * the proof of the request. `check`: a text that only the owner of the secret can compute. `dead`: a generation that must not
   * come back.
   */
  readonly meta: string;
  /** A stream: the sealed parts and the ending, in entries with the ids 1-0, 2-0 and so on. */
  readonly log: string;
  /** A sorted set: the ids of the readers by expiry. */
  readonly readers: string;
}

/** @param generation the id of one generation: after the end of its retention, a key can lead to another generation. */
export function streamKeys(locator: string, generation: string): StreamKeys {
  const meta = metaKey(locator);
  return { meta, log: `${meta}:${generation}`, readers: `${meta}:${generation}:readers` };
}

export function metaKey(locator: string): string {
  return `chat:stream:{${locator}}`;
}

/**
 * `waiting`: claimed, but no head was sent. `running`: it has begun. `ended`: its owner has ended it. `lost`: another replica has
 * ended it, because its owner did not renew the claim.
 */
export type StreamState = 'waiting' | 'running' | 'ended' | 'lost';

/** How long a claim lasts without a renewal. A reader that sees an expired claim for some time ends the stream. */
export const LEASE_MS = 4_000;
/** How long a reader counts without a renewal. */
export const READER_MS = 10_000;
/** How long the outcome of an abandoned claim, or the ending of a dropped stream, is kept for those who read it. */
const LINGER_MS = 5_000;

/** Times are by the clock of Redis, in milliseconds, because the clocks of replicas differ. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** The reply of {@link CLAIM} for a key that may not be taken now. */
export const REFUSED = 'refused';

/**
 * Takes the key of a request that is free. KEYS: meta, readers.
 *
 * ARGV: generation, wrap, check, ms to keep, new state, 1 if a key may be taken, id of the first reader or ''.
 * Returns nothing when this generation has the key, and otherwise the generation and the wrap of the stream that has it.
 */
export const CLAIM = new RedisScript(`${NOW}
local found = redis.call('HMGET', KEYS[1], 'gen', 'wrap', 'dead')
if found[1] == ARGV[1] then return {} end
if found[1] then return {found[1], found[2]} end
if ARGV[6] ~= '1' or found[3] == ARGV[1] then return {'${REFUSED}'} end
redis.call('HSET', KEYS[1], 'gen', ARGV[1], 'wrap', ARGV[2], 'check', ARGV[3], 'state', ARGV[5], 'until', now + ${LEASE_MS})
redis.call('PEXPIRE', KEYS[1], ARGV[4])
if ARGV[7] ~= '' then
  redis.call('ZADD', KEYS[2], now + ${READER_MS}, ARGV[7])
  redis.call('PEXPIRE', KEYS[2], ${2 * READER_MS})
end
return {}
`);

/** The reply of {@link WRITE}. `behind`: Redis has only so many entries. */
export type WriteReply =
  | readonly ['ok', isCancelled: number, readers: number]
  | readonly ['behind', entries: number]
  | readonly ['gone' | 'taken' | 'lost'];

/**
 * Renews the claim of the owner and the slots of its readers, and adds an entry. KEYS: meta, log, readers.
 *
 * ARGV: generation, new state or '', ms to keep, the number of entries before this one or '' if nothing was written so far, the entry
 * or '', and the ids of the readers. An entry that Redis has already is not added again, so the owner can repeat the call.
 */
export const WRITE = new RedisScript(`${NOW}
local found = redis.call('HMGET', KEYS[1], 'gen', 'state', 'cancel', 'dead')
if found[1] and found[1] ~= ARGV[1] then return {'taken'} end
if found[2] == 'lost' or found[4] == ARGV[1] then return {'lost'} end
if not found[1] then return {'gone'} end
for index = 6, #ARGV do redis.call('ZADD', KEYS[3], now + ${READER_MS}, ARGV[index]) end
if #ARGV > 5 then redis.call('PEXPIRE', KEYS[3], ${2 * READER_MS}) end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local readers = redis.call('ZCARD', KEYS[3])
if found[2] == 'ended' then return {'ok', 0, readers} end
if ARGV[4] ~= '' then
  local entries = redis.call('XLEN', KEYS[2])
  if entries < tonumber(ARGV[4]) then return {'behind', entries} end
  if ARGV[5] ~= '' and entries == tonumber(ARGV[4]) then
    redis.call('XADD', KEYS[2], (entries + 1) .. '-0', 'p', ARGV[5])
  end
  redis.call('PEXPIRE', KEYS[2], ARGV[3])
end
redis.call('HSET', KEYS[1], 'until', now + ${LEASE_MS})
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'state', ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return {'ok', found[3] and 1 or 0, readers}
`);

/** The reply of {@link READ}. `full`: the stream has too many readers. `gone`: Redis does not have this generation. */
export type ReadReply<Text = Buffer> = readonly [
  state: Text,
  entries: readonly (readonly [id: Text, fields: readonly Text[]])[],
  /** 1 when the claim of the owner has expired. */
  isExpired: number,
];

/**
 * Reads the entries after an entry, takes or renews the slot of a reader, and ends a stream whose claim has expired. KEYS: meta,
 * log, readers.
 *
 * ARGV: generation, id of the reader or '', most readers, id of the last entry that was read, most entries, 1 if an expired claim
 * may be ended, ms to keep, and 'cancel' to ask the owner to stop, 'bury' if the stream must not come back after Redis has lost it,
 * or ''.
 */
export const READ = new RedisScript(`${NOW}
local found = redis.call('HMGET', KEYS[1], 'gen', 'state', 'until', 'seen')
local isHere = found[1] == ARGV[1]
local state = isHere and found[2] or 'gone'
if isHere and ARGV[2] ~= '' then
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
  if not redis.call('ZSCORE', KEYS[3], ARGV[2]) and redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[3]) then
    return {'full', {}, 0}
  end
  redis.call('ZADD', KEYS[3], now + ${READER_MS}, ARGV[2])
  redis.call('PEXPIRE', KEYS[3], ${2 * READER_MS})
end
local entries = {}
if ARGV[5] ~= '0' then entries = redis.call('XRANGE', KEYS[2], '(' .. ARGV[4], '+', 'COUNT', ARGV[5]) end
local isRunning = state == 'waiting' or state == 'running'
if state == 'running' and #entries > 0 and not found[4] then redis.call('HSET', KEYS[1], 'seen', '1') end
local isExpired = isRunning and tonumber(found[3]) < now
if isExpired and ARGV[6] == '1' then
  if state == 'waiting' then
    redis.call('DEL', KEYS[1])
    state = 'gone'
  else
    redis.call('HSET', KEYS[1], 'state', 'lost')
    redis.call('PEXPIRE', KEYS[1], ARGV[7])
    redis.call('PEXPIRE', KEYS[2], ARGV[7])
    state = 'lost'
  end
elseif isRunning and ARGV[8] == 'cancel' then
  redis.call('HSET', KEYS[1], 'cancel', '1')
elseif not found[1] and ARGV[8] == 'bury' then
  redis.call('HSET', KEYS[1], 'dead', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[7])
end
return {state, entries, isExpired and 1 or 0}
`);

/**
 * Deletes a stream, and frees its key. KEYS: meta, log. ARGV: generation, ms in which the generation must not come back, and the
 * sealed failure for those who wait if the stream has not begun, or nothing to leave only the last entry for those who read it.
 *
 * Redis may have taken the head of a stream that has not begun for its owner, because the reply was lost. If others have seen the
 * stream meanwhile, it is kept for them as lost, and the key stays with it.
 */
export const FORGET = new RedisScript(`
local found = redis.call('HMGET', KEYS[1], 'gen', 'state', 'seen')
if found[1] == ARGV[1] then
  if ARGV[3] and (found[2] == 'lost' or found[3]) then
    redis.call('HSET', KEYS[1], 'state', 'lost')
    return
  end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'dead', ARGV[1])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  if ARGV[3] then redis.call('XADD', KEYS[2], (redis.call('XLEN', KEYS[2]) + 1) .. '-0', 'r', ARGV[3]) end
end
if not ARGV[3] then redis.call('XTRIM', KEYS[2], 'MAXLEN', 1) end
redis.call('PEXPIRE', KEYS[2], ${LINGER_MS})
`);
