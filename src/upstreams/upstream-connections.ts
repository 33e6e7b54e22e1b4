import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Pool, type Dispatcher } from 'undici';
import type { UpstreamConfig } from '../config/config.js';

/** How long an idle connection to a vendor is kept, unless the vendor says otherwise. */
const KEEP_ALIVE_MS = 15_000;

/** The connections to the vendors: one pool for each upstream, made when it is first used. */
@Injectable()
export class UpstreamConnections implements OnApplicationShutdown {
  private readonly pools = new Map<string, Pool>();

  /** @param origin scheme, host and port of the request, which an upstream's protocol decides. */
  of(upstream: UpstreamConfig, origin: string): Dispatcher {
    const key = `${upstream.name} ${origin}`;
    let pool = this.pools.get(key);
    if (pool === undefined) {
      pool = new Pool(origin, {
        // One stream takes a connection for as long as it lasts, so the tiers' limits are the only ones.
        connections: null,
        pipelining: 1,
        connect: { timeout: upstream.timeouts.connectMs },
        keepAliveTimeout: KEEP_ALIVE_MS,
        // An attempt has its own timers, which know what is a sign of life and what is not.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.pools.set(key, pool);
    }
    return pool;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.pools.values()].map((pool) => pool.destroy()));
    this.pools.clear();
  }
}
