import type { UpstreamConfig } from '../../platform/config/config.js';
import type {
  ChatCall,
  AnswerReader,
  HttpProtocol,
  ResponseHeaders,
  Decoder,
  ProviderEvent,
} from '../contract/protocol.js';
import type { Credential } from '../contract/credential.js';
import { providerFailure, ProviderFailure } from '../contract/provider-failure.js';
import type { UpstreamCredentials } from '../credentials/upstream-credentials.js';
import { httpFailure } from '../protocols/shared/reported-failure.js';
import { requestInSteps } from '../protocols/shared/json-request.js';
import { unexpectedFailure } from '../transport/connection-failure.js';
import { encodeLong, hasLongBody, withHeaders, type EncodedRequest } from '../transport/encoded-request.js';
import { isJsonBody, JsonObjectsDecoder, ndjson } from '../transport/json-stream-decoders.js';
import { sse } from '../transport/sse-decoder.js';
import type { UpstreamConnections } from '../transport/upstream-connections.js';
import { headerOf, type ResponseHead, type UpstreamExchange } from '../transport/upstream-exchange.js';
import type { AnswerState } from './answer-state.js';
import type { AttemptContext } from './attempt-context.js';
import type { PartCollector } from './part-collector.js';
import { AFTER_COMPLETE_MS, type PartSource } from './attempt.js';

/** The maximum data without a sign of work on the answer (for example comments), as a number of events of maximum size. */
const MAX_IDLE_EVENTS = 8;
/** The maximum number of bytes to read of a provider's error. Some providers repeat the refused value in it. */
const MAX_ERROR_BYTES = 256 * 1024;

const OK = 200;
/** So much is kept of the white space before an answer. More of it means nothing to a decoder. */
const MAX_BLANK_BYTES = 1024;
const UNAUTHORIZED = 401;

/** Sends the request of a protocol over HTTP, and reads the events of the answer. */
export class HttpSource implements PartSource {
  private request: EncodedRequest | undefined;
  private exchange: UpstreamExchange | undefined;
  /** The request without its credential, and the credential, until the provider has accepted them. */
  private authorized: { readonly request: EncodedRequest; readonly credential: Credential } | undefined;
  private isRenewed = false;
  /** `undefined`: the first bytes have not shown yet whether the answer is a stream or whole. */
  private decoder: Decoder | undefined;
  private readonly reader: AnswerReader<unknown>;
  /** The beginning of an answer that refuses the request. */
  private refusal: Buffer | undefined;
  /** The white space before an answer, while the decoder is not known. */
  private beginning = Buffer.alloc(0);
  /** The last JSON object of an answer that is not a stream of events. */
  private object: string | undefined;
  /** The number of bytes since the last sign of work on the answer. */
  private idleBytes = 0;

  constructor(
    private readonly protocol: HttpProtocol<unknown, unknown>,
    call: ChatCall,
    private readonly upstream: UpstreamConfig,
    private readonly connections: UpstreamConnections,
    private readonly context: AttemptContext,
    private readonly collector: PartCollector,
    private readonly onChange: () => void,
    private readonly onSentAgain: () => void,
    private readonly credentials?: UpstreamCredentials,
  ) {
    this.reader = protocol.open(call, upstream);
    const request = requestInSteps(protocol, call, upstream) ?? protocol.request(call, upstream, context);
    if (credentials !== undefined) void this.sendLater(this.authorize(encodeLong(request), credentials.get()));
    else if (request instanceof Promise || hasLongBody(request)) void this.sendLater(encodeLong(request));
    else this.send(request);
  }

  read(): boolean {
    const { exchange } = this;
    if (exchange === undefined) return false;
    if (this.state.is('sent') || this.state.is('refused')) return this.readHead(exchange);
    const bytes = exchange.take();
    if (bytes !== undefined) this.decode(bytes);
    else if (exchange.isOver) this.endOfBody();
    else return false;
    return true;
  }

  close(reason: Error): void {
    if (this.exchange === undefined) this.state.fail(reason, 'lose');
    else this.exchange.close(reason);
  }

  finish(): void {
    this.exchange?.finish(AFTER_COMPLETE_MS);
  }

  private async authorize(
    bare: EncodedRequest | Promise<EncodedRequest>,
    obtained: Promise<Credential>,
  ): Promise<EncodedRequest> {
    const [request, credential] = await Promise.all([bare, obtained]);
    this.authorized = { request, credential };
    return withHeaders(request, await credential.authorize(request));
  }

  private async sendLater(request: Promise<EncodedRequest>): Promise<void> {
    try {
      const ready = await request;
      if (this.state.is('sent')) this.send(ready);
    } catch (error) {
      this.state.fail(unexpectedFailure(error));
      this.onChange();
    }
  }

  private send(request: EncodedRequest): void {
    const { headers } = this.context;
    this.request = headers === undefined ? request : withHeaders(request, headers);
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
    if (this.renewCredential(head, exchange)) return false;
    if (head.status !== OK || isCompressed(head)) return this.readRefusal(head, exchange);
    this.state.on('accept');
    if (this.authorized !== undefined) this.credentials?.accept(this.authorized.credential);
    this.request = this.authorized = undefined;
    return true;
  }

  /** Sends the request once more, with another credential, if the provider refuses the credential. */
  private renewCredential({ status, headers }: ResponseHead, exchange: UpstreamExchange): boolean {
    const { authorized, credentials } = this;
    if (status === OK || authorized === undefined || credentials === undefined || this.isRenewed) return false;
    const { request, credential } = authorized;
    if (!(credential.isRefused?.(status, headers) ?? status === UNAUTHORIZED)) return false;
    const renewed = credentials.renew(credential);
    if (renewed === undefined) return false;
    this.isRenewed = true;
    exchange.finish(AFTER_COMPLETE_MS);
    this.exchange = undefined;
    void this.sendLater(this.authorize(request, renewed));
    return true;
  }

  /** Sends the request once more if the provider closed a kept connection before the request arrived. */
  private sendAgain(failure: Error, wasSentTooLate: boolean): void {
    if (!wasSentTooLate || this.request === undefined) throw failure;
    this.onSentAgain();
    this.exchange = this.connections.send(this.upstream, this.request, this.onChange, true);
  }

  /**
   * Reads the beginning of an answer that is not a stream, and throws the failure that the answer reports. If the body breaks
   * off, the status is enough.
   */
  private readRefusal(head: ResponseHead, exchange: UpstreamExchange): boolean {
    if (head.status === OK && isCompressed(head)) {
      throw new ProviderFailure('upstream_error', 'The provider compressed its answer, although it must not.');
    }
    const isFirst = this.refusal === undefined;
    this.refusal ??= Buffer.alloc(0);
    this.state.on('refuse');
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

  private decode(bytes: Buffer): void {
    try {
      this.decoder ??= this.decoderOf(bytes);
      if (this.decoder === undefined)
        this.beginning = Buffer.concat([this.beginning, bytes]).subarray(-MAX_BLANK_BYTES);
      else this.decoder.write(bytes);
    } catch (error) {
      this.state.fail(unexpectedFailure(error));
    }
    this.countIdleBytes(bytes.length);
  }

  /** Chooses the decoder by the first bytes, because servers send streams with the content type of JSON, and whole answers with any. */
  private decoderOf(bytes: Buffer): Decoder | undefined {
    const { framing = sse } = this.protocol;
    const isJson = framing === ndjson ? isJsonType(this.exchange?.head) : framing === sse && isJsonBody(bytes);
    if (isJson === undefined) return undefined;
    const decoder = isJson ? new JsonObjectsDecoder(this.addObject, this.upstream.maxEventBytes) : this.framed(framing);
    decoder.write(this.beginning);
    this.beginning = Buffer.alloc(0);
    return decoder;
  }

  /** Limits the amount of data without progress, because each byte takes time to read. The timers only limit the time. */
  private countIdleBytes(length: number): void {
    this.idleBytes = this.collector.signOfLife ? 0 : this.idleBytes + length;
    if (this.idleBytes <= MAX_IDLE_EVENTS * this.upstream.maxEventBytes) return;
    throw new ProviderFailure('upstream_error', 'The provider sent too much data that is not part of an answer.');
  }

  private framed(framing: NonNullable<HttpProtocol<unknown, unknown>['framing']>): Decoder {
    const { reader, collector } = this;
    return framing((event) => {
      for (const part of reader.parts(event)) collector.add(part);
    }, this.upstream);
  }

  private readonly addObject = (event: ProviderEvent): void => {
    this.object = event.data;
    for (const part of this.reader.parts(event)) {
      const failure = part.type === 'error' ? this.protocol.failure?.(OK, this.headers, event.data) : undefined;
      this.collector.add(failure === undefined ? part : { type: 'error', error: failure });
    }
  };

  private get state(): AnswerState {
    return this.collector.state;
  }

  private get headers(): ResponseHeaders {
    return this.exchange?.head?.headers ?? {};
  }

  /** Ends the stream. An unfinished event still counts, but its failure does not: the end marker decides. */
  private endOfBody(): void {
    const { collector, state } = this;
    state.on('close');
    this.decoder?.end();
    if (state.isOpen) for (const part of this.reader.end?.() ?? []) collector.add(part);
    state.end(() => this.failureOfEnd());
  }

  /** JSON without any piece of an answer is something else, such as an error. */
  private failureOfEnd(): Error {
    const { object, headers } = this;
    if (object === undefined || !this.collector.isEmpty)
      return providerFailure('upstream_error', 'The answer ended before it was complete.');
    return this.protocol.failure?.(OK, headers, object) ?? httpFailure(OK, headers, object);
  }
}

function isJsonType(head: ResponseHead | undefined): boolean {
  return head !== undefined && headerOf(head, 'content-type')?.toLowerCase().startsWith('application/json') === true;
}

function isCompressed(head: ResponseHead): boolean {
  const encoding = headerOf(head, 'content-encoding')?.trim().toLowerCase() ?? '';
  return encoding !== '' && encoding !== 'identity';
}
