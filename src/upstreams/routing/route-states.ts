import { Inject, Injectable, Logger, Optional } from '@nestjs/common';
import type { RouteConfig } from '../../platform/config/config.js';
import { elapsedMs } from '../../platform/common/timers/pace.js';
import { CircuitBreaker, type BreakerState } from './circuit-breaker.js';
import { RedisCooldowns } from './redis-cooldowns.js';
import { RouteState } from './route-state.js';

/** A breaker with its names, for metrics. `model` is the provider's name of the model. */
interface NamedBreaker {
  readonly upstream: string;
  readonly model: string | undefined;
  readonly breaker: CircuitBreaker;
}

/** The state of a route with its names. `model` is the provider's name of the model. */
interface NamedRoute {
  readonly upstream: string;
  readonly model: string;
  readonly state: RouteState;
}

/**
 * Holds the state of all routes and upstreams. Failures count in this process. A cooldown that a provider asks for applies to
 * all replicas if they share Redis.
 */
@Injectable()
export class RouteStates {
  private readonly logger = new Logger('Routing');
  /** The keys are the names of upstreams, and `<upstream> <model>` for routes. Names of upstreams contain no space. */
  private readonly named = new Map<string, NamedBreaker>();
  private readonly states = new Map<string, RouteState>();

  constructor(@Optional() @Inject(RedisCooldowns) private readonly shared?: RedisCooldowns) {
    shared?.subscribe((key, ms) => {
      if (ms === 0) this.named.get(key)?.breaker.close();
      else this.breaker(key).coolDown(ms);
    });
  }

  of({ upstream: { name }, model }: RouteConfig): RouteState {
    const key = `${name} ${model}`;
    let state = this.states.get(key);
    if (state === undefined) {
      state = new RouteState(this.breaker(key), this.breaker(name), (scope, ms) => {
        this.shared?.publish(scope === 'route' ? key : name, ms);
      });
      this.states.set(key, state);
    }
    return state;
  }

  /** Returns the state of an upstream. It is not closed if the circuit of the whole upstream is open, or of all its used routes. */
  stateOf(upstream: string): BreakerState {
    const whole = this.named.get(upstream)?.breaker.state ?? 'closed';
    if (whole !== 'closed') return whole;
    const routes = [...this.named.values()].filter((each) => each.upstream === upstream && each.model !== undefined);
    const states = routes.map(({ breaker }) => breaker.state);
    if (states.length === 0 || states.includes('closed')) return 'closed';
    return states.includes('half_open') ? 'half_open' : 'open';
  }

  /** Closes the circuit of a route, or of a whole upstream, at all replicas, and ends its cooldown. */
  close(upstream: string, model: string | undefined): void {
    const key = model === undefined ? upstream : `${upstream} ${model}`;
    this.named.get(key)?.breaker.close();
    this.shared?.publish(key, 0);
  }

  /** Returns the routes that were used. */
  *used(): Generator<NamedRoute> {
    for (const [key, state] of this.states) {
      const { upstream, model = '' } = this.named.get(key) as NamedBreaker;
      yield { upstream, model, state };
    }
  }

  /** Returns the breakers of all routes and upstreams that were used. */
  all(): Iterable<NamedBreaker> {
    return this.named.values();
  }

  private breaker(key: string): CircuitBreaker {
    const known = this.named.get(key);
    if (known !== undefined) return known.breaker;
    const space = key.indexOf(' ');
    const upstream = space === -1 ? key : key.slice(0, space);
    const model = space === -1 ? undefined : key.slice(space + 1);
    const breaker = new CircuitBreaker(() => elapsedMs(), Math.random, {
      opened: (openMs) => {
        this.logger.warn({ msg: 'Circuit opened', upstream, model, openMs: Math.round(openMs) });
      },
      closed: () => {
        this.logger.log({ msg: 'Circuit closed', upstream, model });
      },
    });
    this.named.set(key, { upstream, model, breaker });
    return breaker;
  }
}
