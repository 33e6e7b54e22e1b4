import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Dispatcher } from 'undici';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad } from '../../platform/common/shed-load.js';
import { CONFIG, type Config, type UpstreamConfig } from '../../platform/config/config.js';
import { ConnectionPool, type Connection } from './connection-pool.js';
import type { EncodedRequest } from './encoded-request.js';
import { UpstreamExchange } from './upstream-exchange.js';

/** The `Retry-After` value for the client, in seconds. */
const RETRY_AFTER_SECONDS = 5;

/** Sends requests to providers and keeps connections for later requests. `maxStreams` limits the number of connections. */
@Injectable()
export class UpstreamConnections implements OnApplicationShutdown {
  private readonly pools = new Map<string, ConnectionPool>();
  private readonly limit: number;

  constructor(
    @Inject(CONFIG) { maxStreams }: Config,
    private readonly shedLoad: ShedLoad,
  ) {
    this.limit = maxStreams;
  }

  /**
   * Sends a request.
   *
   * @param onChange see {@link UpstreamExchange}.
   * @param fresh use a new connection.
   * @throws {ServiceError} `unavailable` when the number of connections is at the limit and all connections are in use.
   */
  send(upstream: UpstreamConfig, request: EncodedRequest, onChange: () => void, fresh = false): UpstreamExchange {
    const pool = this.pool(upstream, request.url.origin);
    const used = fresh ? undefined : pool.reuse();
    return new UpstreamExchange(used ?? this.open(pool), request, onChange);
  }

  /** Returns a dispatcher of undici that uses these connections, for the additional requests of a protocol. */
  dispatcher(upstream: UpstreamConfig): Dispatcher {
    return new ConnectionDispatcher((origin) => this.open(this.pool(upstream, origin)));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
  }

  private open(pool: ConnectionPool): Connection {
    const pools = [...this.pools.values()];
    const count = pools.reduce((sum, { size }) => sum + size, 0);
    if (count >= this.limit && !pools.some((other) => other.closeUnneeded())) {
      this.shedLoad.count('upstream_connections');
      const message = 'This process has as many connections to upstreams as it can hold. Try again.';
      throw new ServiceError('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    return pool.open();
  }

  private pool(upstream: UpstreamConfig, origin: string): ConnectionPool {
    const key = `${upstream.name} ${origin} ${upstream.timeouts.connectMs}`;
    let pool = this.pools.get(key);
    if (pool === undefined) {
      pool = new ConnectionPool(origin, upstream.timeouts.connectMs);
      this.pools.set(key, pool);
    }
    return pool;
  }
}

/** Sends each request over a new connection of a pool. The pool keeps the connection afterwards. */
class ConnectionDispatcher extends Dispatcher {
  constructor(private readonly open: (origin: string) => Connection) {
    super();
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const { client, lend } = this.open(new URL(String(options.origin)).origin);
    const hasRoom = client.dispatch(options, handler);
    lend();
    return hasRoom;
  }
}
