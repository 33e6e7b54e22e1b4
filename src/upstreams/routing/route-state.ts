import { factsOf, type ServiceError } from '../../common/service-error.js';
import { ProviderFailure } from '../contract/provider-failure.js';
import { MAX_REST_MS, type CircuitBreaker, type Trial } from './circuit-breaker.js';

const MS_PER_SECOND = 1_000;

/**
 * The state of one route: of the model at its upstream, and of the whole upstream. Only failures that tell about the whole
 * upstream, such as a refused connection, pause the other routes of the upstream.
 */
export class RouteState {
  /** The number of attempts that are not over. */
  inFlight = 0;

  /** @param onRest called when the provider has asked for a rest of the route or of the whole upstream. */
  constructor(
    readonly route: CircuitBreaker,
    readonly upstream: CircuitBreaker,
    private readonly onRest: (scope: 'route' | 'upstream', ms: number) => void,
  ) {}

  /** The time until a request may try the route, in milliseconds. 0: now. */
  get waitMs(): number {
    return Math.max(this.route.waitMs, this.upstream.waitMs);
  }

  begin(): RouteUse {
    this.inFlight += 1;
    return new RouteUse(this, this.route.begin(), this.upstream.begin());
  }

  rest(scope: 'route' | 'upstream', ms: number): void {
    const limitedMs = Math.min(ms, MAX_REST_MS);
    this[scope].rest(limitedMs);
    this.onRest(scope, limitedMs);
  }
}

/** One attempt at a route. Records what the attempt tells about the route. */
export class RouteUse {
  private isOver = false;

  constructor(
    private readonly state: RouteState,
    private readonly route: Trial,
    private readonly upstream: Trial,
  ) {}

  /** The provider has sent text, or a complete answer. */
  succeed(): void {
    this.route.succeed();
    this.upstream.succeed();
  }

  /** The attempt has failed. A provider that limits or rejects requests is available, unless it asks for a rest. */
  fail(failure: ServiceError): void {
    const { code, retryAfterSeconds = 0 } = failure;
    if (factsOf(code).fault !== 'provider') return;
    const scope = failure instanceof ProviderFailure ? failure.scope : 'route';
    if (retryAfterSeconds > 0) this.state.rest(scope, retryAfterSeconds * MS_PER_SECOND);
    else if (code !== 'upstream_unavailable') this[scope].fail(code === 'upstream_timeout');
  }

  /** The attempt is over. Call this once. */
  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.state.inFlight -= 1;
    this.route.end();
    this.upstream.end();
  }
}
