import { Inject, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { InterChunkLatencies } from './inter-chunk-latencies.js';
import { PartPump, type EventSink, type ReadableParts } from './part-pump.js';
import { ResponseBackpressure } from './response-backpressure.js';
import type { StreamFormat } from './stream-format.js';
import '../../usage/record/ledger-entry.js';

/** The headers of Nest's `@Sse()`, so that all streams have the same ones. */
const STREAM_HEADERS = {
  'Cache-Control': 'private, no-cache, no-store, must-revalidate, max-age=0, no-transform',
  Pragma: 'no-cache',
  Expire: '0',
  'X-Accel-Buffering': 'no',
};

/**
 * Sends the answers of `ChatService` as streams in any format. A stream sent by this class behaves as `POST /chat/stream` does:
 *
 * - The headers leave with the first part. They leave without it after 10 s if a provider has accepted the request, and after
 *   30 s in any case, because `ChatService.stream` then returns the parts.
 * - A keep-alive is sent after 15 s without another event.
 * - The next part is read only when the client can take more. The connection of a client that stops reading is closed.
 * - A client that leaves stops the provider. A revoked key and the shutdown end the stream with an error event.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * @Post()
 * @OpensStream()
 * async answer(@Body() body: ChatRequest, @Caller() caller: ChatCaller, @Res() response: Response) {
 *   this.streams.send(await this.chat.stream(body, caller), format, response);
 * }
 * ```
 */
@Injectable()
export class StreamSender {
  constructor(
    private readonly latencies: InterChunkLatencies,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Sends the parts as the body of the response, with the status 200. Returns at once. The stream, and the response, end with
   * the parts.
   *
   * @param parts the result of `ChatService.stream`.
   * @param response the response of a route with `@Res()`. Headers that are set before this call are sent, too.
   */
  send(parts: ReadableParts, format: StreamFormat, response: Response): void {
    const { context, method } = response.req;
    if (response.closed || method === 'HEAD') {
      void parts.return();
      response.end();
      return;
    }
    const sink = new ResponseSink(response, this.config.stalledReaderMs);
    const model = context.ledgerEntry?.started.model;
    const clock = model === undefined ? undefined : this.latencies.clock(model);
    const pump = new PartPump(parts, format, sink, context.requestId, clock);
    response.once('close', () => {
      pump.stop();
    });
    sink.begin(format.contentType);
    pump.run();
  }
}

/** Writes events to a response. */
class ResponseSink extends ResponseBackpressure implements EventSink<string> {
  begin(contentType: string): void {
    const { response } = this;
    // The headers leave with the first event, in one system call.
    this.cork();
    // A client that asked for `close` would wait in vain for the end of a connection that stays open.
    response.writeHead(200, {
      ...STREAM_HEADERS,
      'Content-Type': contentType,
      Connection: response.shouldKeepAlive ? 'keep-alive' : 'close',
    });
    response.flushHeaders();
  }

  send(event: string): void {
    const { response } = this;
    if (event !== '' && !writeChunk(response, event)) response.write(event);
  }

  end(): void {
    this.ending();
    this.cork();
    this.response.end();
  }
}

/**
 * Writes a text as one chunk of the body. This function creates the chunk as one string. Node would write four buffers, and
 * each event would cost a sixth more. The headers must have been sent.
 *
 * @returns false when the body is not chunked (HTTP/1.0), or the connection is closed. Nothing is written then.
 */
export function writeChunk({ socket, chunkedEncoding }: Response, text: string): boolean {
  if (socket === null || !chunkedEncoding) return false;
  socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  return true;
}
