import {
  ChatPlugin,
  endpoint,
  errorEventParts,
  isText,
  ndjson,
  parseJsonObject,
  streamHeaders,
  tokenCount,
  tokenUsage,
  unreadableEventParts,
  type AnswerReader,
  type ChatCall,
  type HttpProtocol,
  type ProviderEvent,
  type StreamPart,
  type UpstreamConfig,
  type UpstreamRequest,
} from 'chat-streaming-service';

/** A protocol with one JSON object a line: `{"out":"…"}` for each piece of text, then `{"end":true,"used":[12,34]}`. */
export class LinesProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'lines';
  readonly framing = ndjson;

  request({ model, messages, maxTokens }: ChatCall, upstream: UpstreamConfig): UpstreamRequest {
    const authorization = upstream.apiKey && `Token ${upstream.apiKey}`;
    return {
      url: endpoint(upstream, '/run'),
      headers: streamHeaders({ accept: 'application/x-ndjson', authorization }, upstream),
      body: JSON.stringify({ model, messages, max: maxTokens }),
    };
  }

  open(): AnswerReader {
    return { parts };
  }
}

function parts({ data }: ProviderEvent): readonly StreamPart[] {
  const line = parseJsonObject(data);
  if (line === undefined) return unreadableEventParts(data);
  if (line.error !== undefined) return errorEventParts(data, line);
  if (isText(line.out)) return [{ type: 'text', text: line.out }];
  if (line.end !== true) return [];
  const [input, output] = Array.isArray(line.used) ? (line.used as unknown[]) : [];
  const usage = tokenUsage({ inputTokens: tokenCount(input), outputTokens: tokenCount(output) });
  return [
    ...(usage === undefined ? [] : [{ type: 'usage' as const, usage }]),
    { type: 'finish', reason: 'stop', raw: 'end' },
    { type: 'complete', last: true },
  ];
}

@ChatPlugin({ name: 'lines', compatibility: '^1', protocols: [LinesProtocol] })
export class LinesPlugin {}
