import { vi } from 'vitest';
import { StreamLog } from '../../../../../../src/chat/durable/log/stream-log.js';
import { ReaderSlots } from '../../../../../../src/chat/durable/store/redis/reader-slots.js';
import { RedisOwnStream } from '../../../../../../src/chat/durable/store/redis/redis-own-stream.js';
import { StreamCipher } from '../../../../../../src/chat/durable/store/redis/stream-cipher.js';
import { applyEntry } from '../../../../../../src/chat/durable/store/redis/stream-entry.js';
import { byField } from '../../../../../../src/chat/durable/store/redis/stream-follower.js';
import type { ServiceError } from '../../../../../../src/common/service-error.js';
import { memoryOf } from '../../../../../contract/durable/describe-stream-store.js';
import { stopTime, turn } from '../../../../../support/moved-time.js';
import { ADDRESS, GENERATION, KEYS, ScriptedStreamRedis } from './scripted-stream-redis.js';

export const DONE = { kind: 'done' } as const;
const TIMES = { runningMs: 90_000, retentionMs: 30_000 };
const CLAIMED = {
  address: ADDRESS,
  accountId: 'ada',
  generation: GENERATION,
  keys: KEYS,
  owner: 'replica-1',
  wrap: 'wrap',
  check: 'check',
};

/** A stream of this replica, with what surrounds it. Its clock is moved by the test. */
export interface OwnStreamStage {
  readonly redis: ScriptedStreamRedis;
  readonly memory: ReturnType<typeof memoryOf>;
  readonly log: StreamLog;
  readonly stream: RedisOwnStream;
  readonly onOver: ReturnType<typeof vi.fn<() => void>>;
  readonly onStop: ReturnType<typeof vi.fn<(reason: ServiceError) => void>>;
}

export function ownStream(): OwnStreamStage {
  stopTime();
  const redis = new ScriptedStreamRedis();
  const memory = memoryOf();
  const log = new StreamLog(memory);
  const [onOver, onStop] = [vi.fn<() => void>(), vi.fn<(reason: ServiceError) => void>()];
  const stream = new RedisOwnStream(CLAIMED, log, redis, new ReaderSlots(redis), TIMES, onOver);
  stream.onStop = onStop;
  return { redis, memory, log, stream, onOver, onStop };
}

/** Begins and ends a stream. */
export async function ended(log: StreamLog): Promise<void> {
  log.begin();
  log.end(DONE);
  await turn();
}

/** What another replica sees after an entry with these fields and values. */
export function mirrorOf(values: readonly unknown[]): StreamLog {
  const fields = byField(values.map((value) => Buffer.from(value as Buffer)));
  const mirror = new StreamLog(memoryOf());
  applyEntry(fields, new StreamCipher(ADDRESS.secret, GENERATION, 'text'), mirror);
  return mirror;
}
