import { StreamMemory } from '../../../../../../src/chat/durable/log/stream-memory.js';
import { StreamCipher } from '../../../../../../src/chat/durable/store/redis/stream-cipher.js';
import { writtenEntry, type EntryFields } from '../../../../../../src/chat/durable/store/redis/stream-entry.js';
import { byField, type StreamFollower } from '../../../../../../src/chat/durable/store/redis/stream-follower.js';
import { presenceKey, streamKeys } from '../../../../../../src/chat/durable/store/redis/stream-keys.js';
import { StreamMirrors, type RemoteStream } from '../../../../../../src/chat/durable/store/redis/stream-mirrors.js';
import { ShedLoad } from '../../../../../../src/common/shed-load.js';
import { RedisUnavailable } from '../../../../../../src/redis/redis-errors.js';
import type { Sent } from '../../../../throttling/fake-redis.js';
import { FakeStreamRedis } from './fake-stream-redis.js';

export const CHECK_EVERY_MS = 500;
export const RETENTION_MS = 60_000;
export const GENERATION = 'generation-1';
export const SECRET = Buffer.alloc(32, 7);

export function remoteStream(name: string, owner = 'owner'): RemoteStream {
  return { accountId: 'ada', keys: streamKeys(name, GENERATION), generation: GENERATION, secret: SECRET, owner };
}

/** Mirrors whose entries come from the test, with a Redis that knows which owners are dead. */
export class FollowedMirrors {
  readonly redis = new FakeStreamRedis();
  readonly memory: StreamMemory;
  readonly mirrors: StreamMirrors;
  /** What gets the entries of a stream that is followed, by the key of its text. */
  readonly followed = new Map<string, (fields: EntryFields) => void>();
  follows = 0;
  ends = 0;
  readonly dead = new Set<string>();
  /** The generation and the state that Redis has. */
  meta: (string | null)[] = [GENERATION, 'running'];
  answerMeta: () => unknown = () => this.meta;
  answerFence: (sent: Sent) => unknown = () => 'ok';

  constructor(streamMemoryBytes = 1_000_000) {
    this.memory = new StreamMemory({ streamMemoryBytes }, new ShedLoad());
    this.redis.answer = (sent) => this.answerTo(sent);
    const follower = { follow: this.follow.bind(this) } as unknown as StreamFollower;
    this.mirrors = new StreamMirrors(this.redis, follower, this.memory, RETENTION_MS);
  }

  /** Adds an entry to a stream. */
  write(name: string, fieldsAndValues: readonly (string | Buffer)[]): void {
    const fields = byField(fieldsAndValues.map((each) => Buffer.from(each as string)));
    this.followed.get(streamKeys(name, GENERATION).text)?.(fields);
  }

  begin(name: string): void {
    this.say(name, 0, '');
  }

  say(name: string, offset: number, text: string): void {
    this.write(name, writtenEntry(new StreamCipher(SECRET, GENERATION, 'text'), offset, text, undefined));
  }

  /** An outage that is over at once. */
  flicker(): void {
    this.redis.goAway(new RedisUnavailable('gone', false));
    this.redis.comeBack();
  }

  private follow(textKey: string, listener: (fields: EntryFields) => void): () => void {
    this.follows += 1;
    this.followed.set(textKey, listener);
    return () => {
      this.ends += 1;
      this.followed.delete(textKey);
    };
  }

  private answerTo(sent: Sent): unknown {
    if (sent.name === 'exists') return [...this.dead].some((owner) => sent.keys[0] === presenceKey(owner)) ? 0 : 1;
    return sent.name === 'hmGet' ? this.answerMeta() : this.answerFence(sent);
  }
}
