import { ServiceError } from '../common/service-error.js';
import { SilenceTimer } from '../common/silence-timer.js';
import type { UpstreamConfig } from '../config/config.js';
import type { Attempt } from './attempt.js';
import type { CallTrace } from './call-trace.js';
import type { ChatCall } from './chat-call.js';
import { PartCollector } from './part-collector.js';
import type { HttpProtocol, UpstreamRequest } from './protocol.js';
import { SseDecoder } from './sse-decoder.js';
import type { UpstreamConnections } from './upstream-connections.js';
import type { ResponseHead, UpstreamExchange } from './upstream-exchange.js';
import { failureOfConnection, failureOfStatus } from './upstream-failure.js';

/** How long to wait for what may follow the end of the answer (token counts, the end of the body). */
const AFTER_COMPLETE_MS = 2_000;
/** As much of a vendor's error as is read, in bytes. */
const ERROR_TEXT_LENGTH = 4_096;

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

  constructor(
    private readonly protocol: HttpProtocol,
    call: ChatCall,
    private readonly upstream: UpstreamConfig,
    private readonly connections: UpstreamConnections,
    trace: CallTrace,
    headers?: Readonly<Record<string, string>>,
  ) {
    this.collector = new PartCollector(trace);
    this.decoder = new SseDecoder((event) => {
      for (const part of protocol.parts(event)) this.collector.add(part);
    });
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
    if (collector.complete) this.silence.allow(AFTER_COMPLETE_MS);
    else if (collector.signOfLife) this.silence.allow(this.upstream.timeouts.idleMs);
    collector.signOfLife = false;
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
    const { status, headers } = await this.head();
    const type = headers['content-type']?.toLowerCase() ?? '';
    if (status === 200 && !type.startsWith('application/json')) {
      this.isAccepted = true;
      return;
    }

    this.silence.allow(AFTER_COMPLETE_MS);
    const text = await this.errorText();
    if (status !== 200) throw failureOfStatus(status, headers['retry-after'], text);
    for (const part of this.protocol.parts({ event: 'error', data: text })) {
      if (part.type === 'error') throw part.error;
    }
    throw new ServiceError('upstream_error', 'The vendor did not answer with a stream.');
  }

  private async errorText(): Promise<string> {
    let text = '';
    try {
      while (text.length < ERROR_TEXT_LENGTH && !this.exchange.isOver) {
        const bytes = this.exchange.take();
        if (bytes === undefined) await this.exchange.change();
        else text += bytes.toString('latin1');
      }
    } catch {
      // The status tells enough.
    }
    return text.slice(0, ERROR_TEXT_LENGTH);
  }
}
