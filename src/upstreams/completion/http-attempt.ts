import { ServiceError } from '../../common/service-error.js';
import { SilenceTimer } from '../../common/timers/silence-timer.js';
import type { UpstreamConfig } from '../../config/config.js';
import type { Attempt } from './attempt.js';
import type { CallTrace } from './call-trace.js';
import type { ChatCall } from '../contract/chat-call.js';
import { PartCollector } from './part-collector.js';
import type { HttpProtocol, UpstreamRequest } from '../contract/protocol.js';
import { failureOfAnswer, isStream } from '../transport/refused-answer.js';
import { SseDecoder } from '../transport/sse-decoder.js';
import type { UpstreamConnections } from '../transport/upstream-connections.js';
import type { ResponseHead, UpstreamExchange } from '../transport/upstream-exchange.js';
import { failureOfConnection } from '../transport/upstream-failure.js';

/** The time to wait for data after the end of the answer, such as token counts and the end of the body. */
const AFTER_COMPLETE_MS = 2_000;
/** The maximum data without a sign of work on the answer (for example comments), as a number of events of maximum size. */
const MAX_IDLE_EVENTS = 8;

/** An attempt over HTTP. Sends the request of a protocol and reads the event stream of the answer. */
export class HttpAttempt implements Attempt {
  private readonly request: UpstreamRequest;
  private exchange: UpstreamExchange;
  private readonly collector: PartCollector;
  private readonly decoder: SseDecoder;
  private readonly silence: SilenceTimer;
  private accept: Promise<void> | undefined;
  private isAccepted = false;
  private reading = true;
  /** True when the provider has marked the answer as complete. The provider then has little time to end the body. */
  private isEnding = false;
  /** The number of bytes since the last sign of work on the answer. */
  private idleBytes = 0;

  constructor(
    private readonly protocol: HttpProtocol,
    call: ChatCall,
    private readonly upstream: UpstreamConfig,
    private readonly connections: UpstreamConnections,
    trace: CallTrace,
    headers?: Readonly<Record<string, string>>,
  ) {
    this.collector = new PartCollector(trace);
    this.decoder = new SseDecoder(
      (event) => {
        for (const part of protocol.parts(event)) this.collector.add(part);
      },
      { maxEventLength: upstream.maxEventBytes },
    );
    const request = protocol.request(call, upstream);
    this.request = headers === undefined ? request : { ...request, headers: { ...request.headers, ...headers } };
    this.exchange = connections.send(upstream, this.request);
    this.silence = new SilenceTimer(
      upstream.timeouts.firstTokenMs,
      () => this.reading,
      () => {
        this.exchange.close(new ServiceError('upstream_timeout', 'The provider sent nothing for too long.'));
      },
    );
  }

  accepted(): Promise<void> {
    return (this.accept ??= this.checkHead());
  }

  get isWhole(): boolean {
    return this.collector.isWhole;
  }

  async next(): Promise<string | undefined> {
    const { collector } = this;
    this.reading = true;
    try {
      if (!this.isAccepted) await this.accepted();
      for (;;) {
        const text = collector.takeText();
        if (text !== '') return text;
        if (collector.error !== undefined) throw collector.error;
        if (collector.over) {
          this.finish();
          return undefined;
        }
        if (!this.read()) await this.exchange.change();
      }
    } catch (error) {
      const failure = failureOfConnection(error);
      this.close(failure);
      throw failure;
    } finally {
      this.reading = false;
    }
  }

  close(reason: Error): void {
    this.silence.stop();
    this.exchange.close(reason);
  }

  private finish(): void {
    this.silence.stop();
    this.exchange.finish(AFTER_COMPLETE_MS);
  }

  /** Processes the data that has arrived. Returns false when no data has arrived. */
  private read(): boolean {
    const { collector, exchange } = this;
    try {
      const bytes = exchange.take();
      if (bytes !== undefined) this.decode(bytes);
      else if (exchange.isOver) this.endOfBody();
      else return false;
    } catch (error) {
      // A failure after the answer is complete does not change the answer.
      if (!collector.complete) throw error;
      collector.over = true;
    }
    return true;
  }

  private decode(bytes: Buffer): void {
    const { collector } = this;
    try {
      this.decoder.write(bytes);
    } catch (error) {
      collector.fail(failureOfConnection(error));
    }
    if (collector.complete) this.awaitEnd();
    else if (collector.signOfLife) this.silence.allow(this.upstream.timeouts.idleMs);
    this.countIdleBytes(bytes.length);
    collector.signOfLife = false;
  }

  /** Sets one deadline for all data after the answer. Further bytes do not extend the deadline. */
  private awaitEnd(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.silence.allow(AFTER_COMPLETE_MS);
  }

  /** Limits the amount of data without progress, because each byte takes time to read. The timers only limit the time. */
  private countIdleBytes(length: number): void {
    this.idleBytes = this.collector.signOfLife ? 0 : this.idleBytes + length;
    if (this.idleBytes <= MAX_IDLE_EVENTS * this.upstream.maxEventBytes) return;
    throw new ServiceError('upstream_error', 'The provider sent too much that is no part of an answer.');
  }

  /** Ends the stream. An unfinished event still counts, but its failure does not: the end marker decides. */
  private endOfBody(): void {
    const { collector } = this;
    const wasComplete = collector.complete;
    this.decoder.end();
    if (wasComplete) collector.error = undefined;
    if (collector.complete) collector.over = true;
    else collector.fail(new ServiceError('upstream_error', 'The provider broke off before the answer was complete.'));
  }

  /**
   * Returns the head of the answer. Sends the request again if the provider closed a kept connection before the request
   * arrived.
   */
  private async head(): Promise<ResponseHead> {
    try {
      return await this.exchange.response();
    } catch (error) {
      if (!this.exchange.wasSentTooLate) throw error;
      this.exchange = this.connections.send(this.upstream, this.request, true);
      return this.exchange.response();
    }
  }

  private async checkHead(): Promise<void> {
    const head = await this.head();
    if (!isStream(head)) {
      this.silence.allow(AFTER_COMPLETE_MS);
      throw await failureOfAnswer(head, this.exchange, this.protocol);
    }
    this.isAccepted = true;
  }
}
