import { SSE_ABORT_CONTROLLER } from '@nestjs/common';
import type { Response } from 'express';
import { ServerResponse, type OutgoingHttpHeaders } from 'node:http';
import { EVENT_STREAM_TYPE } from './stream-format.js';
import { writeChunk } from './stream-sender.js';

/** An `id:` line with a position of a durable stream. The ids of Nest are numbers. */
const OWN_ID = /^id: [\w-]{8}-/;

/** The reason of the signal of a stream that is over. */
const STREAM_IS_OVER = new DOMException('The stream is over.', 'AbortError');

/** A request to a method that is `@Sse()`. */
interface OfSse {
  [SSE_ABORT_CONTROLLER]?: AbortController;
}

interface SseCorrections {
  /** Whether the `id:` lines of the service are sent. Without this, no event has an id. */
  readonly keepsIds: boolean;
  /** Called before Nest flushes the headers. */
  beforeHeaders(): void;
  /** Called after an event was written to the response. Not called for what is only of Nest. */
  afterEvent(): void;
}

/**
 * Replaces methods of the response and of its signal, to correct what Nest's `@Sse()` does and has no option against. This is the only
 * file with such corrections. `nest-sse.test.ts` shows each behaviour with Nest alone: when one of its tests fails after an
 * upgrade of Nest, the correction with the same number can go.
 */
export function correctNestSse(response: Response, corrections: SseCorrections): void {
  response.writeHead = correctedWriteHead(response);
  response.flushHeaders = correctedFlushHeaders(response, corrections);
  response.write = correctedWrite(response, corrections);
  // 9. Nest reads all headers of the response and sets them again. Without a difference in the response, this costs a tenth of it.
  response.getHeaders = noHeaders;
  correctAbort(response.req as OfSse);
}

/** Until the headers are sent. They stay in the response. */
function noHeaders(): OutgoingHttpHeaders {
  return {};
}

/** 8. Nest ends the signal of every stream with a new error, and collecting its stack costs more than to write the stream. */
function correctAbort({ [SSE_ABORT_CONTROLLER]: controller }: OfSse): void {
  if (controller !== undefined) controller.abort = controller.abort.bind(controller, STREAM_IS_OVER);
}

function correctedWriteHead(response: Response): Response['writeHead'] {
  const writeHead = response.writeHead.bind(response) as (status: number, headers: OutgoingHttpHeaders) => Response;
  // Without headers, Node itself sends the head: Nest ends the response of a client that has left before the first event.
  const corrected = (status: number, headers: OutgoingHttpHeaders = {}): Response => {
    response.getHeaders = ServerResponse.prototype.getHeaders;
    // 1. Nest's media type names no encoding. Some HTTP clients, such as `requests` for Python, then read Latin-1.
    headers['Content-Type'] = EVENT_STREAM_TYPE;
    // 2. Nest always sends `Connection: keep-alive`. A client that asked for `close` would wait in vain for the end.
    if (!response.shouldKeepAlive) headers['Connection'] = 'close';
    return writeHead(status, headers);
  };
  return corrected as Response['writeHead'];
}

function correctedFlushHeaders(response: Response, { beforeHeaders }: SseCorrections): Response['flushHeaders'] {
  const flushHeaders = response.flushHeaders.bind(response);
  return () => {
    // 3. Nest flushes the headers on their own. They leave with the first event instead, in one system call.
    beforeHeaders();
    flushHeaders();
  };
}

function correctedWrite(response: Response, { keepsIds, afterEvent }: SseCorrections): Response['write'] {
  const write = response.write.bind(response) as (chunk: string) => boolean;
  return (chunk: string): boolean => {
    const event = keepsIds && OWN_ID.test(chunk) ? chunk : withoutAdditions(chunk);
    if (event !== '') {
      if (!writeChunk(response, event)) write(event);
      afterEvent();
    }
    // 7. Nest stops writing at `false`, but never pauses the Observable. `SseSink` pauses the source instead.
    return true;
  };
}

function withoutAdditions(chunk: string): string {
  // 4. Nest adds an `id:` line to each event: the first line, or the second one of an event with a name.
  if (chunk.startsWith('id: ')) return chunk.slice(chunk.indexOf('\n') + 1);
  if (chunk.startsWith('event: ')) return chunk.replace(/\nid: \d+\n/, '\n');
  // 5. Nest writes a blank line before the first event.
  // 6. Nest writes an empty comment to a client that does not read. The keep-alive comments of the service do that check.
  return chunk === '\n' || chunk === ': \n\n' ? '' : chunk;
}
