import { ServiceError } from '../../common/service-error.js';
import type { UpstreamConfig } from '../../config/config.js';
import type { Attempt } from './attempt.js';
import type { CallTrace } from './call-trace.js';
import type { ChatCall } from '../contract/chat-call.js';
import { PartCollector } from './part-collector.js';
import type { InProcessProtocol } from '../contract/protocol.js';
import type { StreamPart } from '../contract/stream-part.js';

/** An attempt with a protocol that produces the answer in this process. */
export class InProcessAttempt implements Attempt {
  private readonly aborter = new AbortController();
  private readonly parts: AsyncIterator<StreamPart>;
  private readonly collector: PartCollector;

  constructor(protocol: InProcessProtocol, call: ChatCall, upstream: UpstreamConfig, trace: CallTrace) {
    this.collector = new PartCollector(trace);
    this.parts = protocol.stream(call, upstream, this.aborter.signal)[Symbol.asyncIterator]();
  }

  accepted(): Promise<void> {
    return Promise.resolve();
  }

  get isWhole(): boolean {
    return this.collector.isWhole;
  }

  async next(): Promise<string | undefined> {
    const { collector } = this;
    for (;;) {
      const text = collector.takeText();
      if (text !== '') return text;
      if (collector.error !== undefined) throw collector.error;
      if (collector.over) return undefined;
      const part = await this.parts.next();
      this.aborter.signal.throwIfAborted();
      if (!part.done) collector.add(part.value);
      else if (collector.complete) collector.over = true;
      else collector.fail(new ServiceError('upstream_error', 'The answer broke off before it was complete.'));
    }
  }

  close(reason: Error): void {
    this.aborter.abort(reason);
  }
}
