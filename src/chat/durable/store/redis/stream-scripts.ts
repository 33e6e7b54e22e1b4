import { RedisScript } from '../../../../redis/redis-script.js';

/** How long a reader counts without a renewal. */
export const READER_MS = 10_000;
/** How long the outcome of an abandoned claim, or the ending of a dropped stream, is kept for those who follow it. */
export const FAREWELL_MS = 5_000;

/** Times are by the clock of Redis, in milliseconds, because the clocks of replicas differ. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** The reply of {@link CLAIM} for a free key that may not be taken. */
export const REFUSED = 'refused';

/**
 * Takes the key of a request. KEYS: meta, readers.
 *
 * ARGV: generation, owner, wrap, check, ms to keep, id of the first reader, 1 if a free key may be taken.
 * Returns nothing when the key is taken now, otherwise the generation, owner and wrap of the stream that has it.
 */
export const CLAIM = new RedisScript(`${NOW}
local found = redis.call('HMGET', KEYS[1], 'gen', 'owner', 'wrap')
if found[1] then return found end
if ARGV[7] ~= '1' then return {'${REFUSED}'} end
redis.call('HSET', KEYS[1], 'gen', ARGV[1], 'owner', ARGV[2], 'wrap', ARGV[3], 'check', ARGV[4], 'state', 'waiting')
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', KEYS[2], now + ${READER_MS}, ARGV[6])
redis.call('PEXPIRE', KEYS[2], ${2 * READER_MS})
return {}
`);

/**
 * Restores a stream that Redis has lost, or may have lost in part. KEYS: meta, text. ARGV: generation, owner, wrap, check,
 * ms to keep, state. Returns `taken` when another stream has the key by now, and `ended` when another replica has ended the
 * stream.
 */
export const RESTORE = new RedisScript(`
local found = redis.call('HMGET', KEYS[1], 'gen', 'state')
if found[1] and found[1] ~= ARGV[1] then return 'taken' end
if found[2] == 'ended' then return 'ended' end
redis.call('HSET', KEYS[1], 'gen', ARGV[1], 'owner', ARGV[2], 'wrap', ARGV[3], 'check', ARGV[4], 'state', ARGV[6])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('DEL', KEYS[2])
return 'ok'
`);

/** The outcomes of {@link RESTORE}. */
export type Restored = 'ok' | 'taken' | 'ended';

/** The outcomes of {@link WRITE} and {@link FENCE}. */
export type StreamState = 'ok' | 'ended' | 'gone';

/**
 * Adds an entry to a stream that runs. KEYS: meta, text.
 *
 * ARGV: generation, new state, ms to keep, and the fields and values of the entry.
 * Returns `ended` when another replica has ended the stream, and `gone` when Redis has lost it.
 */
export const WRITE = new RedisScript(`
local found = redis.call('HMGET', KEYS[1], 'gen', 'state')
if found[1] ~= ARGV[1] then return 'gone' end
if found[2] == 'ended' then return 'ended' end
redis.call('XADD', KEYS[2], '*', unpack(ARGV, 4))
if found[2] ~= ARGV[2] then redis.call('HSET', KEYS[1], 'state', ARGV[2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 'ok'
`);

/** Frees the key of a stream that has not begun. KEYS: meta, text. ARGV: generation, sealed failure or ''. */
export const ABANDON = new RedisScript(`
local found = redis.call('HMGET', KEYS[1], 'gen', 'state')
if found[1] ~= ARGV[1] or found[2] ~= 'waiting' then return end
redis.call('DEL', KEYS[1])
redis.call('XADD', KEYS[2], '*', 'r', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ${FAREWELL_MS})
`);

/**
 * Ends a stream whose owner is dead, so that all readers see the same ending. KEYS: meta, text. ARGV: generation, ms to keep.
 */
export const FENCE = new RedisScript(`
local found = redis.call('HMGET', KEYS[1], 'gen', 'state')
if found[1] ~= ARGV[1] then return 'gone' end
if found[2] == 'ended' then return 'ended' end
if found[2] == 'waiting' then
  redis.call('DEL', KEYS[1])
  redis.call('XADD', KEYS[2], '*', 'r', '')
  redis.call('PEXPIRE', KEYS[2], ${FAREWELL_MS})
  return 'ok'
end
redis.call('HSET', KEYS[1], 'state', 'ended')
redis.call('XADD', KEYS[2], '*', 'x', '')
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 'ok'
`);

/** Deletes a stream. Those who follow it still get its ending. KEYS: meta, text. ARGV: generation. */
export const DROP = new RedisScript(`
if redis.call('HGET', KEYS[1], 'gen') == ARGV[1] then redis.call('DEL', KEYS[1]) end
redis.call('XTRIM', KEYS[2], 'MAXLEN', 1)
redis.call('PEXPIRE', KEYS[2], ${FAREWELL_MS})
`);

/** Adds a reader. KEYS: meta, readers. ARGV: generation, id of the reader, most readers. Returns -1 without the stream. */
export const ENTER = new RedisScript(`${NOW}
if redis.call('HGET', KEYS[1], 'gen') ~= ARGV[1] then return -1 end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[2], now + ${READER_MS}, ARGV[2])
redis.call('PEXPIRE', KEYS[2], ${2 * READER_MS})
return 1
`);

/** Renews readers. KEYS: readers. ARGV: the ids. Returns the number of all readers, also without an id. */
export const RENEW_READERS = new RedisScript(`${NOW}
for _, id in ipairs(ARGV) do redis.call('ZADD', KEYS[1], now + ${READER_MS}, id) end
if #ARGV > 0 then redis.call('PEXPIRE', KEYS[1], ${2 * READER_MS}) end
return redis.call('ZCOUNT', KEYS[1], now, '+inf')
`);
