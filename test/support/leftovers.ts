import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { CredentialWatch } from '../../src/accounts/ended/credential-watch.js';
import { OpenStreams } from '../../src/chat/stream/open-streams.js';
import type { KeyedCount } from '../../src/platform/common/counts/counters.js';
import { CredentialDatabase } from '../../src/platform/database/credential-database.js';
import { BodiesInFlight } from '../../src/platform/http/body/bodies-in-flight.js';
import { ClientConnections } from '../../src/platform/http/connections/client-connections.js';
import { REDIS, type RedisConnection } from '../../src/platform/redis/redis-connection.js';
import type { AccountUse } from '../../src/throttling/in-process/account-use.js';
import { LimitStore } from '../../src/throttling/limit-store.js';
import { StreamSlots } from '../../src/throttling/process-load/stream-slots.js';
import { UpstreamConnections } from '../../src/upstreams/transport/upstream-connections.js';
import { UsageLedger } from '../../src/usage/ledger/usage-ledger.js';
import { runningServices } from './running-services.js';
import { runningTimers, type TimerFilter } from './timer-watch.js';
import { waitFor } from './wait-for.js';

/** The time to wait for resources that are released by themselves, for example at the end of an answer's body. */
const SETTLED_WITHIN_MS = 20_000;

/**
 * The timers that belong to the service and not to a request: the file that starts them, and how many may run at once. They
 * run from the start of the service or from their first use. They must be cleared when the service has stopped.
 */
const OF_THE_SERVICE: ReadonlyMap<string, number> = new Map([
  ['src/usage/ledger/interrupted-streams.ts', 1],
  // Runs only with PostgreSQL, whose clock is not the clock of the process.
  ['src/platform/database/database-clock.ts', 1],
  // For keys that expire, budgets, old refused requests and old deliveries of webhooks, and only with USAGE_RETENTION_DAYS,
  // AUDIT_RETENTION_DAYS, an audit sink and a usage feed.
  ['src/platform/common/timers/periodic-task.ts', 8],
  // Runs after a stream with a budget, if a webhook wants to know about budgets.
  ['src/usage/budgets/budget-events.ts', 1],
  // Looks for deliveries.
  ['src/plugins/webhooks/webhook-sender.ts', 1],
  ['src/platform/common/event-loop/event-loop.ts', 1],
  // Drops durable streams some time after their end.
  ['src/plugins/durable/store/memory-stream-store.ts', 1],
  ['src/platform/http/connections/unread-responses.ts', 1],
  // Writes the refused requests that wait.
  ['src/plugins/dashboard/requests/refusal-recorder.ts', 1],
  // Ends the present minute of the history.
  ['src/plugins/dashboard/operator/status/service-status.ts', 1],
  // Runs only with a model source.
  ['src/models/sourced-models.ts', 1],
  // For API keys, operator keys and sessions.
  ['src/accounts/credentials/use-recorder.ts', 3],
  // These run only with REDIS_URL.
  ['src/platform/redis/redis-connection.ts', 1],
  ['src/platform/redis/membership.ts', 1],
  ['src/throttling/redis/lease-renewal.ts', 1],
]);

/**
 * Files whose timers may keep running after a request is over, because they wait for something outside the request. All other
 * timers of a request must be cleared when the request ends.
 */
const MAY_RUN_OUT: ReadonlySet<string> = new Set([
  // Wait for a client that still sends, or that has not read the end of an answer.
  'src/platform/http/body/unread-body.ts',
  'src/platform/http/connections/client-connection.ts',
  // Wait for a store that is unavailable.
  'src/usage/ledger/usage-ledger.ts',
  'src/usage/ledger/intent-log.ts',
  'src/throttling/redis/pending-commands.ts',
  'src/platform/database/postgres/postgres-availability.ts',
  // Look again a moment later, also when the client has left meanwhile, or without a request.
  'src/platform/database/sqlite/open-sqlite.ts',
  'src/plugins/durable/store/redis/redis-stream-tools.ts',
  'src/plugins/reports/stream-receipts.ts',
  'src/usage/ledger/interrupted-streams.ts',
  'src/usage/store/usage-writers.ts',
  // Waits for an answer of a store, which the service also asks by itself, at any moment, or for a socket to close.
  'src/platform/common/timers/timeouts.ts',
]);
const TIMERS_OF = 'timers of ';
/** Turns of the event loop. The timers of a request may be cleared this many turns after its other resources are released. */
const TURNS_TO_CLEAR = 10;

/** The counts of resources that a service holds, by name. Every count must be 0 after all requests are over. */
type Held = Readonly<Record<string, number>>;

/** Finds resources that requests do not release, in a service that runs in this process. */
export class Leftovers {
  private readonly server: Server;
  private readonly listenersBefore: number;
  private readonly listenersOfSockets = new WeakMap<Socket, number>();

  /** @param app a service that listens and has not received any request yet. */
  constructor(private readonly app: NestExpressApplication) {
    this.server = app.getHttpServer();
    this.server.on('connection', (socket: Socket) => this.listenersOfSockets.set(socket, listenersOf(socket)));
    this.listenersBefore = listenersOf(this.server);
  }

  /**
   * Closes the connections of requests that still run, and waits until the requests have released all resources.
   *
   * @throws {Error} with the names and counts of the resources that are left.
   */
  async none(): Promise<void> {
    for (const { socket, response } of this.app.get(ClientConnections, { strict: false }).all()) {
      // A connection whose client still sends after its answer would stay for two seconds.
      if (response !== undefined || socket.writableEnded) socket.destroy();
    }
    await nothingIsLeft('Requests leave behind', () => this.ofRequests());
    await this.writeRecords();
    for (let turn = 0; turn < TURNS_TO_CLEAR; turn++) await nextTurn();
    nothingOf('Requests do not clear', unclearedTimers());
    await nothingIsLeft('Requests leave behind', timersOfRequests);
  }

  /** Writes the usage records that wait for the next round. To wait for a round after each test would take most of a run. */
  private async writeRecords(): Promise<void> {
    const ledger = inside<{ timer?: NodeJS.Timeout; writtenAt: number; write(): Promise<boolean> }>(
      this.app.get(UsageLedger, { strict: false }),
    );
    if (ledger.timer === undefined) return;
    clearTimeout(ledger.timer);
    // The first record of the next test is then written as soon as after a pause.
    if (await ledger.write()) ledger.writtenAt = -Infinity;
  }

  private ofRequests(): Held {
    const get = <T>(type: abstract new (...args: never[]) => T): T => this.app.get<T>(type, { strict: false });
    const bodies = inside<{ arriving: KeyedCount; bytes: KeyedCount }>(get(BodiesInFlight));
    return {
      'open streams': get(OpenStreams).count,
      'slots of tiers': get(StreamSlots).takenInTiers,
      'slots for streams': inside<{ taken: number }>(get(StreamSlots)).taken,
      'bodies that arrive': bodies.arriving.total,
      'bytes of bodies': bodies.bytes.total,
      'watched credentials': get(CredentialWatch).size,
      'requests of clients': [...get(ClientConnections).all()].filter(({ response }) => response !== undefined).length,
      'connections to upstreams in use': upstreamConnectionsInUse(get(UpstreamConnections)),
      'connections to the database in use': databaseConnectionsInUse(get(DataSource)),
      'listeners of the server': listenersOf(this.server) - this.listenersBefore,
      'listeners of idle connections': this.listenersOfIdleConnections(),
      ...heldOfLimits(get(LimitStore)),
    };
  }

  private listenersOfIdleConnections(): number {
    const idle = [...this.app.get(ClientConnections, { strict: false }).all()].filter(({ response }) => !response);
    return idle.reduce(
      (sum, { socket }) => sum + listenersOf(socket) - (this.listenersOfSockets.get(socket) ?? listenersOf(socket)),
      0,
    );
  }
}

/** Checks that a stopped service has released all its resources in this process. Create it before the service starts. */
export class LeftoversOfService {
  private readonly timersBefore = runningTimers();
  private readonly keptAliveBefore = runningTimers({ keepAlive: true });
  private readonly listenersBefore = listenersOf(process);

  /**
   * @param app a service that has stopped.
   * @throws {Error} with the names and counts of the resources that are left.
   */
  async none(app: NestExpressApplication): Promise<void> {
    const { pools } = inside<{ pools: Map<string, { all: Set<{ destroyed: boolean }> }> }>(
      app.get(UpstreamConnections, { strict: false }),
    );
    // Timers that do not keep the process alive may run out by themselves.
    nothingOf('A service that has stopped does not clear', moreThan(this.keptAliveBefore, { keepAlive: true }));
    const { source: credentials } = inside<{ source: DataSource }>(app.get(CredentialDatabase, { strict: false }));
    await nothingIsLeft('A service that has stopped leaves behind', () => ({
      ...moreThan(this.timersBefore),
      'listeners of the process': listenersOf(process) - this.listenersBefore,
      'connections of clients': app.get(ClientConnections, { strict: false }).count,
      'connections to upstreams': [...pools.values()].flatMap(({ all }) => [...all].filter((c) => !c.destroyed)).length,
      databases: [app.get(DataSource, { strict: false }), credentials].filter((source) => source.isInitialized).length,
      'a connection to Redis': Number(
        app.get<RedisConnection | undefined>(REDIS, { strict: false })?.isUnavailable === false,
      ),
    }));
  }
}

function moreThan(before: ReadonlyMap<string, number>, filter?: TimerFilter): Held {
  const left = [...runningTimers(filter)].map(([place, count]) => [
    `${TIMERS_OF}${place}`,
    count - (before.get(place) ?? 0),
  ]);
  return Object.fromEntries(left) as Held;
}

async function nothingIsLeft(what: string, look: () => Held): Promise<void> {
  await waitFor(() => leftOf(look()).length === 0, 'nothing to be left', SETTLED_WITHIN_MS).catch(() => {
    nothingOf(what, look());
  });
}

function nothingOf(what: string, held: Held): void {
  const left = leftOf(held).map(([name, count]) => `${name}: ${count}`);
  if (left.length > 0) throw new Error(`${what}: ${left.join(', ')}`);
}

function leftOf(held: Held): [string, number][] {
  return Object.entries(held).filter(([, count]) => count !== 0);
}

/** The timers that their requests should have cleared, and the timers of the service that keep the process alive. */
function unclearedTimers(): Held {
  const ofRequests = Object.entries(timersOfRequests()).filter(
    ([name]) => !MAY_RUN_OUT.has(name.replace(TIMERS_OF, '')),
  );
  const keepAlive = [...runningTimers({ keepAlive: true })].filter(([place]) => OF_THE_SERVICE.has(place));
  return Object.fromEntries([
    ...ofRequests,
    ...keepAlive.map(([place, count]) => [`timers that keep the process alive, of ${place}`, count]),
  ]) as Held;
}

function timersOfRequests(): Held {
  const ofRequests = [...runningTimers()].flatMap(([place, count]) => {
    const left = count - (OF_THE_SERVICE.get(place) ?? 0) * Math.max(1, runningServices.size);
    return left > 0 ? [[`${TIMERS_OF}${place}`, left]] : [];
  });
  return Object.fromEntries(ofRequests) as Held;
}

/** The streams and reserved tokens in a limit store that counts in this process. Both are 0 for a store in Redis. */
function heldOfLimits(store: LimitStore): Held {
  const { accounts } = inside<{ accounts?: Map<string, AccountUse> }>(store);
  const all = [...(accounts?.values() ?? [])];
  return {
    'streams in the limits': all.reduce((sum, { held }) => sum + held.streams, 0),
    'reserved tokens': all.reduce((sum, { held }) => sum + held.tokens, 0),
  };
}

function upstreamConnectionsInUse(connections: UpstreamConnections): number {
  const { pools } = inside<{ pools: Map<string, { all: Set<unknown>; idle: unknown[] }> }>(connections);
  return [...pools.values()].reduce((sum, { all, idle }) => sum + all.size - idle.length, 0);
}

function databaseConnectionsInUse({ driver }: DataSource): number {
  const { master } = driver as { master?: { totalCount?: number; idleCount?: number } };
  return (master?.totalCount ?? 0) - (master?.idleCount ?? 0);
}

function listenersOf(emitter: NodeJS.EventEmitter): number {
  return emitter.eventNames().reduce((sum, name) => sum + emitter.listenerCount(name), 0);
}

/** Gives access to the private members of an instance. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- says what the caller looks at.
function inside<T>(instance: object): T {
  return instance as unknown as T;
}
