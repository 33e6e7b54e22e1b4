import type { CredentialWatch } from '../../../src/accounts/ended/credential-watch.js';
import { ChatService } from '../../../src/chat/chat.service.js';
import type { CompletionHooks } from '../../../src/chat/hooks/completion-hooks.js';
import type { ConversationValidation } from '../../../src/chat/request/conversation/conversation-validation.js';
import { OpenStreams } from '../../../src/chat/stream/open-streams.js';
import { DrainState } from '../../../src/platform/common/drain-state.js';
import { ShedLoad } from '../../../src/platform/common/shed-load.js';
import type { Config, ModelConfig } from '../../../src/platform/config/config.js';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import type { ModelCatalog } from '../../../src/models/model-catalog.js';
import type { RequestLimiter } from '../../../src/throttling/request-limiter.js';
import type { ModelRouter } from '../../../src/upstreams/routing/model-router.js';
import type { BudgetEvents } from '../../../src/usage/budgets/budget-events.js';
import { ReservationQueue, RunningReservations } from '../../../src/usage/budgets/running-reservations.js';
import { SharedReservations } from '../../../src/usage/budgets/shared-reservations.js';
import { SpendBudgets } from '../../../src/usage/budgets/spend-budgets.js';
import { InterruptedStreams } from '../../../src/usage/ledger/interrupted-streams.js';
import { RecordWriter } from '../../../src/usage/ledger/record-writer.js';
import { UsageLedger } from '../../../src/usage/ledger/usage-ledger.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import type { UnsharedLimits } from '../../../src/usage/store/unshared-limits.js';
import { UsageWriters } from '../../../src/usage/store/usage-writers.js';
import { START_MS, type SimulatedDatabase } from './simulated-database.js';
import type { VirtualTime } from './virtual-time.js';
import type { SimulatedProcess, SimulatedReplica } from './world.js';

const CONFIG = { currency: 'EUR', maxStreams: 1_000 } as Config;
const GRACE_MS = 3_000;
const LINGER_MS = 2_000;
/** A token costs one millionth. */
const PRICE = { inputPerMillion: 1, outputPerMillion: 1, currency: 'EUR' };
const MODEL = {
  id: 'acme/fast',
  contextLength: 8192,
  maxOutputTokens: undefined,
  price: PRICE,
  routes: [{ upstream: { name: 'acme' } }],
} as unknown as ModelConfig;
const NO_LIMITS = {} as RequestLimiter;
const NO_WATCH = { watch: () => () => undefined } as unknown as CredentialWatch;

/** The completions, the budgets and the ledger of one simulated replica, with the real objects of the service. */
export class MoneyReplica implements SimulatedReplica {
  readonly chat: ChatService;
  private readonly drainState = new DrainState();
  private readonly openStreams: OpenStreams;
  private readonly ledger: UsageLedger;
  private readonly sharedHolds: SharedReservations;
  private readonly interrupted: InterruptedStreams;

  /** @param stream answers a completion. */
  constructor(
    time: VirtualTime,
    readonly owner: SimulatedProcess,
    readonly connection: SimulatedDatabase,
    name: string,
    stream: ModelRouter['stream'],
  ) {
    const now = (): number => START_MS + time.nowMs;
    const source = connection.asDataSource;
    const availability = new EmbeddedAvailability();
    const writers = new UsageWriters(source, availability);
    // All replicas run in this process, and would take each other for its earlier lives.
    Reflect.set(writers, 'host', name);
    const store = new UsageStore(source, availability, writers);
    const writer = new RecordWriter(store);
    const unshared = { check: () => Promise.resolve() } as unknown as UnsharedLimits;
    this.interrupted = new InterruptedStreams(store, writer, unshared);
    this.ledger = new UsageLedger(store, writer, this.interrupted, now);
    const queue = new ReservationQueue(connection.statements);
    const running = new RunningReservations(queue, writers, CONFIG);
    this.sharedHolds = new SharedReservations(running, this.ledger, now);
    const events = { isWanted: false, refused: () => undefined, released: () => undefined } as unknown as BudgetEvents;
    const budgets = new SpendBudgets(queue, running, this.sharedHolds, events, CONFIG, now);
    this.openStreams = new OpenStreams(NO_WATCH, this.drainState, new ShedLoad(), CONFIG, now);
    const catalog = { get: () => MODEL } as unknown as ModelCatalog;
    const router = { supporting: (model: ModelConfig) => model, stream } as unknown as ModelRouter;
    const hooks = { isEmpty: true } as CompletionHooks;
    const validation = {} as ConversationValidation;
    this.chat = new ChatService(catalog, router, this.openStreams, this.ledger, hooks, validation, budgets, NO_LIMITS);
  }

  /** Begins to work, as at the start of a process. */
  async start(): Promise<void> {
    this.sharedHolds.onModuleInit();
    await this.interrupted.onApplicationBootstrap();
  }

  async shutDown(): Promise<void> {
    this.drainState.begin();
    await this.openStreams.drain(GRACE_MS, LINGER_MS);
    await Promise.all([this.sharedHolds.beforeApplicationShutdown(), this.ledger.beforeApplicationShutdown()]);
  }
}
