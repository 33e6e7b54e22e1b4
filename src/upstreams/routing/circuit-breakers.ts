import { Injectable } from '@nestjs/common';
import type { UpstreamConfig } from '../../config/config.js';
import { CircuitBreaker } from './circuit-breaker.js';

/** Holds one circuit breaker for each upstream. The state belongs to this process. */
@Injectable()
export class CircuitBreakers {
  private readonly byName = new Map<string, CircuitBreaker>();

  of({ name }: Pick<UpstreamConfig, 'name'>): CircuitBreaker {
    let breaker = this.byName.get(name);
    if (breaker === undefined) {
      breaker = new CircuitBreaker(() => performance.now());
      this.byName.set(name, breaker);
    }
    return breaker;
  }
}
