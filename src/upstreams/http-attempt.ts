import { ServiceError } from '../common/service-error.js';
import { SilenceTimer } from '../common/timers/silence-timer.js';
import type { UpstreamConfig } from '../config/config.js';
import type { Attempt } from './attempt.js';
import type { CallTrace } from './call-trace.js';
import type { ChatCall } from './chat-call.js';
import { PartCollector } from './part-collector.js';
import type { HttpProtocol, UpstreamRequest } from './protocol.js';
import { failureOfAnswer, isStream } from './refused-answer.js';
import { SseDecoder } from './sse-decoder.js';
import type { UpstreamConnections } from './upstream-connections.js';
import type { ResponseHead, UpstreamExchange } from './upstream-exchange.js';
import { failureOfConnection } from './upstream-failure.js';

/** How long to wait for what may follow the end of the answer (token counts, the end of the body). */
const AFTER_COMPLETE_MS = 2_000;
/** Largest events that a vendor may send one after another without a sign of work on the answer, such as comments. */
const MAX_IDLE_EVENTS = 8;

/** An attempt over HTTP: sends the request of a protocol and reads the event stream that answers it. */
export class HttpAttempt implements Attempt {
  private readonly request: UpstreamRequest;
  private exchange: UpstreamExchange;
  private readonly collector: PartCollector;
  private readonly decoder: SseDecoder;
  private readonly silence: SilenceTimer;
  private accept: Promise<void> | undefined;
  private isAccepted = false;
  private reading = true;
  /** The vendor has said that the answer is whole, and has little time left to end the body. */
  private isEnding = false;
  /** Bytes since the last sign of work on the answer. */
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
        this.exchange.close(new ServiceError('upstream_timeout', 'The vendor sent nothing for too long.'));
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

  /** Takes in what has come; false when nothing has. */
  private read(): boolean {
    const { collector, exchange } = this;
    try {
      const bytes = exchange.take();
      if (bytes !== undefined) this.decode(bytes);
      else if (exchange.isOver) this.endOfBody();
      else return false;
    } catch (error) {
      // What breaks off after the answer was whole takes nothing from it.
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

  /** Sets one deadline for all that follows the answer: more bytes do not move it. */
  private awaitEnd(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.silence.allow(AFTER_COMPLETE_MS);
  }

  /** The timers bound how long a vendor may send nothing of use. This bounds how much, as each byte takes time to read. */
  private countIdleBytes(length: number): void {
    this.idleBytes = this.collector.signOfLife ? 0 : this.idleBytes + length;
    if (this.idleBytes <= MAX_IDLE_EVENTS * this.upstream.maxEventBytes) return;
    throw new ServiceError('upstream_error', 'The vendor sent too much that is no part of an answer.');
  }

  /** An event that the vendor left open counts, but not its being cut short: the end mark decides. */
  private endOfBody(): void {
    const { collector } = this;
    const wasComplete = collector.complete;
    this.decoder.end();
    if (wasComplete) collector.error = undefined;
    if (collector.complete) collector.over = true;
    else collector.fail(new ServiceError('upstream_error', 'The vendor broke off before the answer was complete.'));
  }

  /** Asks once more where the vendor had closed a kept connection by the time the request reached it. */
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
