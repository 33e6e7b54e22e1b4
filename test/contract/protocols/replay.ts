import { ServiceError } from '../../../src/common/service-error.js';
import { CallTrace } from '../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../src/upstreams/completion/part-collector.js';
import type { HttpProtocol } from '../../../src/upstreams/contract/protocol.js';
import { sse } from '../../../src/upstreams/transport/sse-decoder.js';
import { ACME, HELLO, upstreamOf } from './describe-protocol.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import type { ExpectedAnswer } from './fixtures.js';

/** Reads a stream as it would arrive in these pieces, and sums it up as the service does. */
export function replay(protocol: HttpProtocol, pieces: Iterable<Uint8Array>): ExpectedAnswer {
  const trace = new CallTrace('replay');
  trace.beginAttempt('acme');
  const collector = new PartCollector(trace);
  const reader = protocol.open(HELLO, upstreamOf(protocol));
  let progress = 0;
  let text = '';
  const add = (part: StreamPart): void => {
    if ((part.type === 'progress' || part.type === 'reasoning') && !collector.over) progress += 1;
    collector.add(part);
  };
  const takeText = (): void => {
    for (let part = collector.take(); part !== undefined; part = collector.take()) {
      if (part.type === 'text') text += part.text;
    }
  };
  const { framing = sse } = protocol;
  const decoder = framing((event) => {
    reader.parts(event).forEach(add);
  }, ACME);
  for (const piece of pieces) {
    decoder.write(Buffer.from(piece));
    takeText();
  }
  decoder.end();
  reader.end?.().forEach(add);
  takeText();
  const { usage, finish } = trace;
  const { error } = collector;
  return {
    text,
    complete: collector.complete && error === undefined,
    ...(Object.values(usage).some((count) => count !== undefined) && { usage }),
    ...(finish && { finish }),
    ...(progress > 0 && { progress }),
    ...(error instanceof ServiceError && { error: error.code }),
  };
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
