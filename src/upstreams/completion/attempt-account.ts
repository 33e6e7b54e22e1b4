import { Logger } from '@nestjs/common';
import { factsOf, type ServiceError } from '../../common/service-error.js';
import type { RouteConfig } from '../../config/config.js';
import type { RouteUse } from '../routing/route-state.js';
import type { ObservedAttempt } from './attempt-observer.js';
import type { AttemptContext } from './attempt-context.js';
import type { AttemptTrace, CallTrace } from './call-trace.js';

const logger = new Logger('ModelRouter');

/** Why the signal of an attempt aborts after a complete answer. */
const COMPLETE = new Error('The answer is complete.');
const STOPPED = new Error('The completion was stopped.');

/**
 * Keeps account of one attempt: its times and its error code in the trace, the state of its route, its span, its log line
 * and the signal of its protocol. Everything that must happen once for each attempt happens here.
 */
export class AttemptAccount {
  constructor(
    private readonly modelId: string,
    private readonly route: RouteConfig,
    private readonly trace: CallTrace,
    private readonly attempt: AttemptTrace,
    private readonly use: RouteUse,
    private readonly context: AttemptContext,
    private readonly observed: ObservedAttempt | undefined,
  ) {}

  /** The provider has accepted the request. */
  accept(): void {
    this.attempt.accepted = true;
  }

  /** The reader has taken the first text. */
  text(): void {
    this.attempt.firstTextMs = this.elapsedMs;
    this.use.succeed();
  }

  /** The reader has taken the complete answer. */
  complete(): void {
    this.use.succeed();
    this.end(COMPLETE);
  }

  /** The completion ends for a reason that tells nothing about the provider. */
  stop(): void {
    this.end(STOPPED);
  }

  fail(failure: ServiceError): void {
    this.attempt.code = failure.code;
    this.use.fail(failure);
    this.end(failure);
    if (factsOf(failure.code).fault === 'provider' || failure.code === 'upstream_rejected') this.log(failure);
  }

  private get elapsedMs(): number {
    return this.trace.elapsedMs - this.attempt.startedMs;
  }

  private end(reason: Error): void {
    this.attempt.durationMs = this.elapsedMs;
    this.use.end();
    this.context.end(reason);
    this.observed?.end(this.trace);
  }

  private log({ code, message, cause }: ServiceError): void {
    logger.warn({
      msg: 'An upstream failed',
      requestId: this.trace.requestId,
      model: this.modelId,
      upstream: this.route.upstream.name,
      code,
      reason: cause instanceof Error ? cause.message : message,
    });
  }
}
