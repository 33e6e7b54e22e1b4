import { ServiceError } from '../../platform/common/service-error.js';
import { CallTrace } from '../../upstreams/completion/call-trace.js';
import { PartCollector } from '../../upstreams/completion/part-collector.js';
import { sse } from '../../upstreams/transport/sse-decoder.js';
import type { StreamPart } from '../../upstreams/contract/stream-part.js';
import type { ExpectedAnswer, ProtocolSubject } from './protocol-contract.js';
import { TEST_CALL } from './samples.js';

/** Reads an answer that arrives in these pieces, and sums it up as the service does. */
export function replay({ protocol, upstream }: ProtocolSubject, pieces: Iterable<Uint8Array>): ExpectedAnswer {
  const trace = new CallTrace('replay');
  trace.beginAttempt('acme');
  const collector = new PartCollector(trace, false, true);
  collector.state.on('accept');
  const reader = protocol.open(TEST_CALL, upstream);
  let progress = 0;
  let text = '';
  const calls = new Map<string, { name: string; json: string; isEnded: boolean }>();
  const callOf = (id: string) => calls.get(id) ?? { json: '', isEnded: false };
  const add = (part: StreamPart): void => {
    const isReasoning = part.type === 'reasoning' && part.text !== '';
    if ((part.type === 'progress' || isReasoning) && collector.state.isOpen) progress += 1;
    collector.add(part);
  };
  const takeText = (): void => {
    for (let part = collector.take(); part !== undefined; part = collector.take()) {
      if (part.type === 'text') text += part.text;
      else if (part.type === 'tool_call_start') calls.set(part.id, { name: part.name, json: '', isEnded: false });
      else if (part.type === 'tool_call_delta') callOf(part.id).json += part.json;
      else if (part.type === 'tool_call_end') callOf(part.id).isEnded = true;
    }
  };
  const { framing = sse } = protocol;
  const decoder = framing((event) => {
    reader.parts(event).forEach(add);
  }, upstream);
  try {
    for (const piece of pieces) {
      decoder.write(Buffer.from(piece));
      takeText();
    }
    decoder.end();
    reader.end?.().forEach(add);
  } catch (error) {
    // A framing refuses bytes with an error that says why.
    if (!(error instanceof ServiceError)) throw error;
    collector.state.fail(error);
  }
  takeText();
  const { usage, finish } = trace;
  const { failure: error, isMarked: complete } = collector.state;
  return {
    text,
    complete,
    ...(Object.values(usage).some((count) => count !== undefined) && { usage }),
    ...(finish && { finish }),
    ...(progress > 0 && { progress }),
    ...(calls.size > 0 && { toolCalls: [...calls.values()].map(endedCall) }),
    ...(error instanceof ServiceError && { error: error.code }),
  };
}

/** A call that is not ended has no arguments that may be used. */
function endedCall({ name, json, isEnded }: { name: string; json: string; isEnded: boolean }) {
  return isEnded ? { name, json } : { name };
}

/** Yields `bytes`, split at these positions. */
export function* cutAt(bytes: Uint8Array, ...positions: readonly number[]): Generator<Uint8Array> {
  let start = 0;
  for (const position of [...positions].sort((a, b) => a - b)) {
    yield bytes.subarray(start, position);
    start = position;
  }
  yield bytes.subarray(start);
}

/** Yields each byte alone. */
export function* byteByByte(bytes: Uint8Array): Generator<Uint8Array> {
  for (let index = 0; index < bytes.length; index++) yield bytes.subarray(index, index + 1);
}
