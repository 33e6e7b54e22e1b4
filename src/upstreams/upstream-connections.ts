import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { UpstreamConfig } from '../config/config.js';
import { ConnectionPool } from './connection-pool.js';
import type { UpstreamRequest } from './protocol.js';
import { UpstreamExchange } from './upstream-exchange.js';

/** Sends requests to vendors, over connections that are kept for the next one. */
@Injectable()
export class UpstreamConnections implements OnApplicationShutdown {
  private readonly pools = new Map<string, ConnectionPool>();

  /** @param fresh over a new connection. */
  send(upstream: UpstreamConfig, request: UpstreamRequest, fresh = false): UpstreamExchange {
    return new UpstreamExchange(this.pool(upstream, request.url.origin).acquire(fresh), request);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
  }

  private pool(upstream: UpstreamConfig, origin: string): ConnectionPool {
    const key = `${upstream.name} ${origin}`;
    let pool = this.pools.get(key);
    if (pool === undefined) {
      pool = new ConnectionPool(origin, upstream.timeouts.connectMs);
      this.pools.set(key, pool);
    }
    return pool;
  }
}
