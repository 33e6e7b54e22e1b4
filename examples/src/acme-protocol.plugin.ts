import {
  ChatPlugin,
  endpoint,
  errorEventParts,
  isText,
  optionMembers,
  parseJsonObject,
  streamHeaders,
  tokenCount,
  tokenUsage,
  unreadableEventParts,
  type AnswerReader,
  type ChatCall,
  type HttpProtocol,
  type JsonObject,
  type ProviderEvent,
  type StreamPart,
  type UpstreamConfig,
  type UpstreamRequest,
} from 'chat-streaming-service';

/**
 * The wire protocol of a provider named Acme: `event: token` with `{"t":"…"}` for each piece of text, then `event: end` with
 * `{"why":"…","in":12,"out":34}`, or `event: error`.
 */
export class AcmeProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'acme';
  readonly generationOptions = { temperature: 'heat', stop: 'until' };

  request({ model, messages, options, maxTokens }: ChatCall, upstream: UpstreamConfig): UpstreamRequest {
    return {
      url: endpoint(upstream, '/generate'),
      headers: streamHeaders(upstream.apiKey === undefined ? {} : { 'x-acme-key': upstream.apiKey }, upstream),
      body: JSON.stringify({
        model,
        turns: messages,
        ...optionMembers(options, this.generationOptions),
        limit: maxTokens,
      }),
    };
  }

  /** Acme's events need no state, so all streams can share one reader. */
  open(): AnswerReader {
    return { parts };
  }
}

function parts({ event, data }: ProviderEvent): readonly StreamPart[] {
  const body = parseJsonObject(data);
  if (event === 'error') return errorEventParts(data, body);
  // Acme keeps the connection alive with events without data.
  if (body === undefined) return data.trim() === '' ? [] : unreadableEventParts(data);
  if (event === 'token') return isText(body.t) ? [{ type: 'text', text: body.t }] : [];
  return event === 'end' ? endParts(body) : [];
}

function endParts({ why, in: input, out: output }: JsonObject): readonly StreamPart[] {
  const usage = tokenUsage({ inputTokens: tokenCount(input), outputTokens: tokenCount(output) });
  return [
    ...(usage === undefined ? [] : [{ type: 'usage' as const, usage }]),
    { type: 'finish', reason: why === 'limit' ? 'length' : 'stop', raw: isText(why) ? why : 'unknown' },
    { type: 'complete', last: true },
  ];
}

@ChatPlugin({ name: 'acme', compatibility: '^1', protocols: [AcmeProtocol] })
export class AcmePlugin {}
