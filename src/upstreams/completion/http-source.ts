import { ownTurn } from '../../common/event-loop/event-loop-turns.js';
import type { UpstreamConfig } from '../../config/config.js';
import type { ChatCall } from '../contract/chat-call.js';
import type { Decoder } from '../contract/framing.js';
import type { AnswerReader, HttpProtocol, UpstreamRequest } from '../contract/protocol.js';
import { providerFailure, ProviderFailure } from '../contract/provider-failure.js';
import { httpFailure } from '../protocols/shared/http-failure.js';
import { unexpectedFailure } from '../transport/connection-failure.js';
import { sse } from '../transport/sse-decoder.js';
import type { UpstreamConnections } from '../transport/upstream-connections.js';
import { headerOf, type ResponseHead, type UpstreamExchange } from '../transport/upstream-exchange.js';
import type { AttemptContext } from './attempt-context.js';
import type { PartCollector } from './part-collector.js';
import { AFTER_COMPLETE_MS, type PartSource } from './part-source.js';

/** The maximum data without a sign of work on the answer (for example comments), as a number of events of maximum size. */
const MAX_IDLE_EVENTS = 8;
/** The maximum number of bytes to read of a provider's error. */
const MAX_ERROR_BYTES = 16 * 1024;

/** A longer body is made and sent in separate turns of the event loop. In UTF-16 units. */
const LONG_BODY = 128 * 1024;

/** Sends the request of a protocol over HTTP, and reads the events of the answer. */
export class HttpSource implements PartSource {
  isAccepted = false;
  private request: UpstreamRequest | undefined;
  private exchange: UpstreamExchange | undefined;
  /** Why there is no exchange. */
  private failure: Error | undefined;
  private readonly decoder: Decoder;
  private readonly reader: AnswerReader<unknown>;
  /** The beginning of an answer that is not a stream. */
  private refusal: Buffer | undefined;
  /** The number of bytes since the last sign of work on the answer. */
  private idleBytes = 0;

  constructor(
    private readonly protocol: HttpProtocol<unknown, unknown>,
    call: ChatCall,
    private readonly upstream: UpstreamConfig,
    private readonly connections: UpstreamConnections,
    context: AttemptContext,
    private readonly collector: PartCollector,
    private readonly onChange: () => void,
  ) {
    const reader = (this.reader = protocol.open(call, upstream));
    const { framing = sse } = protocol;
    this.decoder = framing((event) => {
      for (const part of reader.parts(event)) collector.add(part);
    }, upstream);
    const request = protocol.request(call, upstream, context);
    if (request instanceof Promise) void this.sendLater(request, context);
    else if (request.body.length > LONG_BODY) void this.sendLater(inNextTurn(request), context);
    else this.send(request, context);
  }

  read(): boolean {
    const { exchange } = this;
    if (exchange === undefined) {
      if (this.failure !== undefined) throw this.failure;
      return false;
    }
    if (!this.isAccepted) return this.readHead(exchange);
    const bytes = exchange.take();
    if (bytes !== undefined) this.decode(bytes);
    else if (exchange.isOver) this.endOfBody();
    else return false;
    return true;
  }

  close(reason: Error): void {
    this.failure ??= reason;
    this.exchange?.close(reason);
  }

  finish(): void {
    this.exchange?.finish(AFTER_COMPLETE_MS);
  }

  private async sendLater(request: Promise<UpstreamRequest>, context: AttemptContext): Promise<void> {
    try {
      const ready = await request;
      if (this.failure === undefined) this.send(ready, context);
    } catch (error) {
      this.failure ??= unexpectedFailure(error);
      this.onChange();
    }
  }

  private send(request: UpstreamRequest, { headers }: AttemptContext): void {
    this.request = headers === undefined ? request : { ...request, headers: { ...request.headers, ...headers } };
    this.exchange = this.connections.send(this.upstream, this.request, this.onChange);
  }

  /** Checks the head of the response, and reads an answer that is not a stream. */
  private readHead(exchange: UpstreamExchange): boolean {
    const { head } = exchange;
    if (head === undefined) {
      if (exchange.failure === undefined) return false;
      this.sendAgain(exchange.failure, exchange.wasSentTooLate);
      return false;
    }
    if (!isStream(head)) return this.readRefusal(head, exchange);
    this.isAccepted = true;
    this.request = undefined;
    return true;
  }

  /** Sends the request once more if the provider closed a kept connection before the request arrived. */
  private sendAgain(failure: Error, wasSentTooLate: boolean): void {
    if (!wasSentTooLate || this.request === undefined) throw failure;
    this.exchange = this.connections.send(this.upstream, this.request, this.onChange, true);
  }

  /**
   * Reads the beginning of an answer that is not a stream, and throws the failure that the answer reports. If the body breaks
   * off, the status is enough.
   */
  private readRefusal(head: ResponseHead, exchange: UpstreamExchange): boolean {
    if (head.status === 200 && isCompressed(head)) {
      throw new ProviderFailure('upstream_error', 'The provider compressed its answer, although it must not.');
    }
    const isFirst = this.refusal === undefined;
    this.refusal ??= Buffer.alloc(0);
    try {
      while (this.refusal.length < MAX_ERROR_BYTES && !exchange.isOver) {
        const bytes = exchange.take();
        // The first call returns true, so that the attempt notices the refusal and limits the time for its body.
        if (bytes === undefined) return isFirst;
        this.refusal = Buffer.concat([this.refusal, bytes.subarray(0, MAX_ERROR_BYTES - this.refusal.length)]);
      }
    } catch {
      // The connection has failed, or the time for the body is over.
    }
    const { status, headers } = head;
    const body = this.refusal.toString();
    throw this.protocol.failure?.(status, headers, body) ?? httpFailure(status, headers, body);
  }

  /** True when the provider has refused the request, and only the reason is missing. */
  get isRefused(): boolean {
    return this.refusal !== undefined;
  }

  private decode(bytes: Buffer): void {
    const { collector } = this;
    try {
      this.decoder.write(bytes);
    } catch (error) {
      collector.fail(unexpectedFailure(error));
    }
    this.countIdleBytes(bytes.length);
  }

  /** Limits the amount of data without progress, because each byte takes time to read. The timers only limit the time. */
  private countIdleBytes(length: number): void {
    this.idleBytes = this.collector.signOfLife ? 0 : this.idleBytes + length;
    if (this.idleBytes <= MAX_IDLE_EVENTS * this.upstream.maxEventBytes) return;
    throw new ProviderFailure('upstream_error', 'The provider sent too much data that is not part of an answer.');
  }

  /** Ends the stream. An unfinished event still counts, but its failure does not: the end marker decides. */
  private endOfBody(): void {
    const { collector } = this;
    const wasComplete = collector.complete;
    this.decoder.end();
    if (!collector.over) for (const part of this.reader.end?.() ?? []) collector.add(part);
    if (wasComplete) collector.error = undefined;
    if (collector.complete) collector.over = true;
    else collector.fail(providerFailure('upstream_error', 'The answer ended before it was complete.'));
  }
}

async function inNextTurn(request: UpstreamRequest): Promise<UpstreamRequest> {
  await ownTurn();
  return request;
}

/** Whether the head announces a stream of events that the service can read. */
function isStream(head: ResponseHead): boolean {
  return head.status === 200 && !isCompressed(head) && !isJson(head);
}

function isJson(head: ResponseHead): boolean {
  return headerOf(head, 'content-type')?.toLowerCase().startsWith('application/json') === true;
}

function isCompressed(head: ResponseHead): boolean {
  const encoding = headerOf(head, 'content-encoding')?.trim().toLowerCase() ?? '';
  return encoding !== '' && encoding !== 'identity';
}
