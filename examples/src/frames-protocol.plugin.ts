import {
  ChatPlugin,
  endpoint,
  errorEventParts,
  isText,
  parseJsonObject,
  providerFailure,
  streamHeaders,
  unreadableEventParts,
  type AnswerReader,
  type ChatCall,
  type HttpProtocol,
  type ProviderEvent,
  type StreamPart,
  type UpstreamConfig,
  type UpstreamRequest,
} from 'chat-streaming-service';
import { crc32 } from 'node:zlib';

/** The length and the checksum of the JSON that follows. */
const HEAD_BYTES = 8;

/** A binary framing: `length crc32 json`, again and again. The bytes can be cut at any place. */
const frames: NonNullable<HttpProtocol['framing']> = (onEvent, { maxEventBytes }) => {
  let waiting = Buffer.alloc(0);
  return {
    write(bytes) {
      waiting = Buffer.concat([waiting, bytes]);
      while (waiting.length >= HEAD_BYTES) {
        const end = HEAD_BYTES + waiting.readUInt32BE(0);
        // Check the length first, so that a frame that never ends fails at once.
        if (end > maxEventBytes) throw providerFailure('upstream_error', 'A frame is too large.');
        if (waiting.length < end) return;
        const json = waiting.subarray(HEAD_BYTES, end);
        if (waiting.readUInt32BE(4) !== crc32(json)) throw providerFailure('upstream_error', 'A checksum is wrong.');
        onEvent({ event: 'message', data: json.toString('utf8') });
        waiting = waiting.subarray(end);
      }
    },
    end: () => undefined,
  };
};

/** A provider that sends `{"piece":"…"}` in binary frames, and then `{"end":"stop"}`. */
export class FramesProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'frames';
  readonly framing = frames;

  request({ model, messages, maxTokens }: ChatCall, upstream: UpstreamConfig): UpstreamRequest {
    return {
      url: endpoint(upstream, '/frames'),
      headers: streamHeaders({ accept: 'application/x-frames' }, upstream),
      body: JSON.stringify({ model, messages, limit: maxTokens }),
    };
  }

  open(): AnswerReader {
    return { parts };
  }
}

function parts({ data }: ProviderEvent): readonly StreamPart[] {
  const body = parseJsonObject(data);
  if (body === undefined) return unreadableEventParts(data);
  if (body.error !== undefined) return errorEventParts(data, body);
  if (isText(body.piece)) return [{ type: 'text', text: body.piece }];
  if (!isText(body.end)) return [];
  return [
    { type: 'finish', reason: body.end === 'limit' ? 'length' : 'stop', raw: body.end },
    { type: 'complete', last: true },
  ];
}

@ChatPlugin({ name: 'frames', compatibility: '^1', protocols: [FramesProtocol] })
export class FramesPlugin {}
