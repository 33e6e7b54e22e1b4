import type { HttpProtocol } from '../../../src/upstreams/protocol.js';
import { SseDecoder } from '../../../src/upstreams/sse-decoder.js';
import type { FinishReason, StreamPart, TokenUsage } from '../../../src/upstreams/stream-part.js';
import type { ExpectedAnswer } from './fixtures.js';

/** Reads a stream as it would arrive in these pieces, and sums up what the protocol makes of it. */
export function replay(protocol: HttpProtocol, pieces: Iterable<Uint8Array>): ExpectedAnswer {
  const parts: StreamPart[] = [];
  const decoder = new SseDecoder((event) => parts.push(...protocol.parts(event)));
  for (const piece of pieces) decoder.write(piece);
  decoder.end();
  return answerOf(parts);
}

function answerOf(parts: readonly StreamPart[]): ExpectedAnswer {
  let text = '';
  let usage: TokenUsage | undefined;
  let finish: { reason: FinishReason; raw: string } | undefined;
  let progress = 0;
  let complete = false;
  const answer = () => ({
    text,
    complete,
    ...(usage && { usage }),
    ...(finish && { finish }),
    ...(progress > 0 && { progress }),
  });
  for (const part of parts) {
    switch (part.type) {
      case 'text':
        text += part.text;
        break;
      case 'progress':
        progress += 1;
        break;
      case 'usage':
        usage = { ...usage, ...part.usage };
        break;
      case 'finish':
        finish = { reason: part.reason, raw: part.raw };
        break;
      case 'complete':
        complete = true;
        if (part.last) return answer();
        break;
      case 'error':
        complete = false;
        return { ...answer(), error: part.error.code };
    }
  }
  return answer();
}

/** `bytes` cut at these positions. */
export function* cutAt(bytes: Uint8Array, ...positions: readonly number[]): Generator<Uint8Array> {
  let start = 0;
  for (const position of [...positions].sort((a, b) => a - b)) {
    yield bytes.subarray(start, position);
    start = position;
  }
  yield bytes.subarray(start);
}

/** `bytes` one by one. */
export function* byteByByte(bytes: Uint8Array): Generator<Uint8Array> {
  for (let index = 0; index < bytes.length; index++) yield bytes.subarray(index, index + 1);
}
