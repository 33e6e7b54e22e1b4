import {
  endpoint,
  parseJsonObject,
  providerFailure,
  streamHeaders,
  tokenCount,
  unreadableEventParts,
  type AnswerReader,
  type ChatCall,
  type HttpProtocol,
  type ProviderEvent,
  type StreamPart,
  type UpstreamConfig,
  type UpstreamRequest,
} from 'chat-streaming-service';

/**
 * The wire protocol of a provider named Acme: `event: token` with `{"t":"…"}` for each piece of text, then `event: end` with
 * `{"why":"…","in":12,"out":34}`, or `event: oops`.
 */
export class AcmeProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'acme';

  request({ model, messages, temperature, maxTokens }: ChatCall, upstream: UpstreamConfig): UpstreamRequest {
    return {
      url: endpoint(upstream, '/generate'),
      headers: streamHeaders(upstream.apiKey === undefined ? {} : { 'x-acme-key': upstream.apiKey }, upstream),
      body: JSON.stringify({ model, turns: messages, heat: temperature, limit: maxTokens }),
    };
  }

  /** Acme's events need no state, so all streams can share one reader. */
  open(): AnswerReader {
    return { parts };
  }
}

function parts({ event, data }: ProviderEvent): readonly StreamPart[] {
  if (!['token', 'end', 'oops'].includes(event)) return [];
  const body = parseJsonObject(data);
  if (body === undefined) return unreadableEventParts(data);
  if (event === 'oops') return [{ type: 'error', error: providerFailure('upstream_error', 'Acme reports a failure.') }];
  if (event === 'token') return typeof body.t === 'string' && body.t !== '' ? [{ type: 'text', text: body.t }] : [];
  return [
    { type: 'usage', usage: { inputTokens: tokenCount(body.in), outputTokens: tokenCount(body.out) } },
    { type: 'finish', reason: body.why === 'limit' ? 'length' : 'stop', raw: String(body.why) },
    { type: 'complete', last: true },
  ];
}
