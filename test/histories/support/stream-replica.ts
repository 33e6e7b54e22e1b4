import type { Reflector } from '@nestjs/core';
import type { CredentialWatch } from '../../../src/accounts/ended/credential-watch.js';
import type { ChatService } from '../../../src/chat/chat.service.js';
import { IdempotencyKeys } from '../../../src/plugins/durable/idempotency-keys.js';
import { DurableStreams } from '../../../src/plugins/durable/durable-streams.js';
import { StreamMemory } from '../../../src/plugins/durable/log/stream-memory.js';
import { ReplayRate } from '../../../src/plugins/durable/replay-rate.js';
import { MemoryStreamStore } from '../../../src/plugins/durable/store/memory-stream-store.js';
import { RedisStreamStore } from '../../../src/plugins/durable/store/redis/redis-stream-store.js';
import type { StreamStore } from '../../../src/plugins/durable/store/stream-store.js';
import { OpenStreams } from '../../../src/chat/stream/open-streams.js';
import { DrainState } from '../../../src/platform/common/drain-state.js';
import type { EventLoop } from '../../../src/platform/common/event-loop/event-loop.js';
import { ShedLoad } from '../../../src/platform/common/shed-load.js';
import type { Config } from '../../../src/platform/config/config.js';
import { StreamSlots } from '../../../src/throttling/process-load/stream-slots.js';
import type { SimulatedRedis } from './simulated-redis.js';
import { SimulatedProcess, type SimulatedReplica } from './world.js';

const CONFIG = {
  ...{ streamMemoryBytes: 64 * 1024 * 1024, streamRetentionMs: 300_000, streamDetachedMs: 60_000 },
  ...{ maxStreams: 1_000, stalledReaderMs: 60_000 },
  builtInPlugins: new Set(['durable']),
} as unknown as Config;
/** How long the streams of a process that stops may go on, and how long their clients may take to read the end. */
const GRACE_MS = 3_000;
const LINGER_MS = 2_000;
const NO_WATCH = { watch: () => () => undefined } as unknown as CredentialWatch;

/** The durable streams of one simulated replica, with the real objects of the service. */
export class StreamReplica implements SimulatedReplica {
  readonly owner = new SimulatedProcess();
  readonly memory: StreamMemory;
  readonly store: StreamStore;
  readonly openStreams: OpenStreams;
  readonly streams: DurableStreams;
  readonly keys: IdempotencyKeys;
  readonly slots: StreamSlots;
  readonly connection: SimulatedRedis | undefined;
  private readonly drainState = new DrainState();

  /** @param connect connects the process to Redis. `undefined`: streams are kept in its memory. */
  constructor(connect?: (owner: SimulatedProcess) => SimulatedRedis) {
    const { drainState } = this;
    const { streamRetentionMs } = CONFIG;
    const shedLoad = new ShedLoad();
    const memory = new StreamMemory(CONFIG, shedLoad);
    const connection = connect?.(this.owner);
    this.memory = memory;
    this.connection = connection;
    this.store =
      connection === undefined
        ? new MemoryStreamStore(memory, streamRetentionMs)
        : new RedisStreamStore(connection.asConnection, memory, streamRetentionMs);
    this.openStreams = new OpenStreams(NO_WATCH, drainState, shedLoad, CONFIG, () => Date.now());
    const noChat = {} as ChatService;
    this.streams = new DurableStreams(this.store, this.openStreams, drainState, new ReplayRate(), memory, CONFIG);
    this.slots = new StreamSlots(CONFIG, { isOverloaded: false } as EventLoop, shedLoad);
    const reflector = { get: () => ({ conversationOf: (body: object) => body }) } as unknown as Reflector;
    this.keys = new IdempotencyKeys(reflector, this.slots, this.store, this.streams, noChat, CONFIG);
  }

  async shutDown(): Promise<void> {
    this.drainState.begin();
    await this.openStreams.drain(GRACE_MS, LINGER_MS);
    if (this.store instanceof RedisStreamStore) await this.store.beforeApplicationShutdown();
  }
}
