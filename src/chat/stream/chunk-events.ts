import type { MessageEvent } from '@nestjs/common';
import type { Chunk } from './chunk.dto.js';
import type { InterChunkClock } from './inter-chunk-latencies.js';
import { escapedLineEnds, hasLineEnds } from './stream-format.js';
import { PartPump, type EventFormat, type EventSink, type ReadableParts } from './part-pump.js';

const LAST_CHUNK: Chunk = { content: '', done: true };

/** The events of `POST /chat/stream`. Only texts are part of the stream. */
const CHUNKS: EventFormat<MessageEvent> = {
  part: (part, position) => {
    if (part.type !== 'text') return undefined;
    const data = textChunk(part.text);
    return position === undefined ? { data } : { id: position, data };
  },
  keepAlive: () => ({ comment: 'keep-alive' }),
  end: () => ({ data: LAST_CHUNK }),
  error: ({ code, message }) => {
    const chunk: Chunk = { content: '', done: false, error: { code, message } };
    return { type: 'error', data: chunk };
  },
};

/**
 * Sends the texts of an answer as the events of the stream, for Nest's `@Sse()`. The next text is read only when the client can take more
 * data.
 *
 * @returns a function to call once, when the stream is over or its client has left.
 */
export function sendChunks(
  parts: ReadableParts,
  sink: EventSink<MessageEvent>,
  requestId: string,
  clock?: InterChunkClock,
): () => void {
  const pump = new PartPump(parts, CHUNKS, sink, requestId, clock);
  pump.run();
  return () => {
    pump.stop();
  };
}

/** Returns the chunk as an object, which Nest writes as JSON, or as JSON text where Nest's JSON is not safe to read. */
function textChunk(content: string): Chunk | string {
  const chunk: Chunk = { content, done: false };
  return hasLineEnds(content) ? escapedLineEnds(JSON.stringify(chunk)) : chunk;
}
