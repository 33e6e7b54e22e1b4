import { ServiceError } from '../common/service-error.js';
import type { UpstreamConfig } from '../config/config.js';
import type { Attempt } from './attempt.js';
import type { CallTrace } from './call-trace.js';
import type { ChatCall } from './chat-call.js';
import { PartCollector } from './part-collector.js';
import type { HttpProtocol, UpstreamRequest } from './protocol.js';
import { SilenceTimer } from '../common/silence-timer.js';
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
  private reading = true;

  constructor(
    private readonly protocol: HttpProtocol,
    call: ChatCall,
    private readonly upstream: UpstreamConfig,
    private readonly connections: UpstreamConnections,
    trace: CallTrace,
  ) {
    this.collector = new PartCollector(trace);
    this.decoder = new SseDecoder((event) => {
      for (const part of protocol.parts(event)) this.collector.add(part);
    });
    this.request = protocol.request(call, upstream);
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

  async next(): Promise<string | undefined> {
    this.reading = true;
    try {
      await this.accepted();
      return await this.read();
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

  private async read(): Promise<string | undefined> {
    const { collector } = this;
    for (;;) {
      const text = collector.takeText();
      if (text !== '') return text;
      if (collector.error !== undefined) throw collector.error;
      if (collector.over) {
        this.silence.stop();
        this.exchange.finish(AFTER_COMPLETE_MS);
        return undefined;
      }
      this.take(await this.bytes());
      this.watchSilence();
    }
  }

  /** The next bytes; `undefined` at the end of the body, also of one that breaks off after the answer was whole. */
  private async bytes(): Promise<Buffer | undefined> {
    try {
      return await this.exchange.read();
    } catch (error) {
      if (this.collector.complete) return undefined;
      throw error;
    }
  }

  private take(bytes: Buffer | undefined): void {
    const { collector, decoder } = this;
    try {
      if (bytes !== undefined) {
        decoder.write(bytes);
        return;
      }
      decoder.end();
    } catch (error) {
      collector.fail(failureOfConnection(error));
    }
    if (collector.complete) collector.over = true;
    else collector.fail(new ServiceError('upstream_error', 'The vendor broke off before the answer was complete.'));
  }

  private watchSilence(): void {
    const { collector } = this;
    if (collector.complete) this.silence.allow(AFTER_COMPLETE_MS);
    else if (collector.signOfLife) this.silence.allow(this.upstream.timeouts.idleMs);
    collector.signOfLife = false;
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
    if (status === 200 && !type.startsWith('application/json')) return;

    this.silence.allow(AFTER_COMPLETE_MS);
    const text = await this.errorText();
    if (status !== 200) throw failureOfStatus(status, headers['retry-after'], text);
    for (const part of this.protocol.parts({ event: 'error', data: text })) {
      if (part.type === 'error') throw part.error;
    }
    throw new ServiceError('upstream_error', 'The vendor did not answer with a stream.', { cause: new Error(text) });
  }

  private async errorText(): Promise<string> {
    let text = '';
    while (text.length < ERROR_TEXT_LENGTH) {
      const bytes = await this.exchange.read().catch(() => undefined);
      if (bytes === undefined) break;
      text += bytes.toString('latin1');
    }
    return text.slice(0, ERROR_TEXT_LENGTH);
  }
}
