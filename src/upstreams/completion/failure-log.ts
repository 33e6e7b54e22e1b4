import { Logger } from '@nestjs/common';
import { factsOf } from '../../platform/common/service-error.js';
import { causeOf } from '../contract/provider-failure.js';
import type { AttemptEnd, AttemptObserver } from './attempt-observer.js';

const logger = new Logger('ModelRouter');

/** Writes one log line for an attempt that its provider has failed or refused. */
export class FailureLog implements AttemptObserver {
  constructor(
    private readonly requestId: string,
    private readonly model: string,
    private readonly upstream: string,
  ) {}

  onEnd(end: AttemptEnd): void {
    if (end.type !== 'failed') return;
    const { code, message, cause } = end.failure;
    if (factsOf(code).fault !== 'provider' && code !== 'upstream_rejected') return;
    logger.warn({
      msg: 'An upstream failed',
      requestId: this.requestId,
      model: this.model,
      upstream: this.upstream,
      code,
      reason: cause instanceof Error ? cause.message : message,
      cause: causeOf(end.failure),
    });
  }
}
