import type { UpstreamConfig } from '../../platform/config/config.js';
import type { ChatCall, InProcessProtocol } from '../contract/protocol.js';
import { providerFailure } from '../contract/provider-failure.js';
import type { StreamPart } from '../contract/stream-part.js';
import { unexpectedFailure } from '../transport/connection-failure.js';
import type { AttemptContext } from './attempt-context.js';
import type { PartCollector } from './part-collector.js';
import type { PartSource } from './attempt.js';

/**
 * Reads the parts of a protocol that answers in this process. The source asks for the next part only when its reader has
 * taken the last one, so a slow reader slows the protocol down.
 */
export class InProcessSource implements PartSource {
  private readonly parts: AsyncIterator<StreamPart>;
  private isWaiting = false;
  private arrived: IteratorResult<StreamPart, unknown> | undefined;
  /** True when the protocol needs no `return()`: it has ended by itself, or got one. */
  private isEnded = false;

  constructor(
    protocol: InProcessProtocol,
    call: ChatCall,
    upstream: UpstreamConfig,
    context: AttemptContext,
    private readonly collector: PartCollector,
    private readonly onChange: () => void,
  ) {
    collector.state.on('accept');
    this.parts = protocol.stream(call, upstream, context)[Symbol.asyncIterator]();
  }

  read(): boolean {
    const { arrived } = this;
    if (arrived === undefined) {
      void this.requestNext();
      return false;
    }
    this.arrived = undefined;
    this.add(arrived);
    return true;
  }

  close(reason: Error): void {
    this.collector.state.fail(reason, 'lose');
    this.finish();
  }

  /** Lets the protocol release what it holds. A generator runs its `finally` blocks. */
  finish(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    const closed = async (): Promise<unknown> => this.parts.return?.();
    closed().catch(() => undefined);
  }

  private async requestNext(): Promise<void> {
    if (this.isWaiting) return;
    this.isWaiting = true;
    try {
      this.arrived = await this.parts.next();
      if (this.arrived.done === true) this.isEnded = true;
    } catch (error) {
      this.isEnded = true;
      this.collector.state.fail(unexpectedFailure(error), 'lose');
    }
    this.isWaiting = false;
    this.onChange();
  }

  private add(arrived: IteratorResult<StreamPart, unknown>): void {
    if (arrived.done !== true) this.collector.add(arrived.value);
    else this.collector.state.end(() => providerFailure('upstream_error', 'The answer ended before it was complete.'));
  }
}
