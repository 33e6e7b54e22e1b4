import {
  ServiceError,
  type ChatCall,
  type HttpProtocol,
  type ServerSentEvent,
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
      url: new URL('generate', upstream.baseUrl),
      headers: { 'content-type': 'application/json', 'x-acme-key': upstream.apiKey ?? '', ...upstream.headers },
      body: JSON.stringify({ model, turns: messages, heat: temperature, limit: maxTokens }),
    };
  }

  parts({ event, data }: ServerSentEvent): readonly StreamPart[] {
    if (!['token', 'end', 'oops'].includes(event)) return [];
    const body = parse(data);
    if (body === undefined) return failure('An event is not a JSON object.');
    if (event === 'oops') return failure('Acme says that it failed.');
    if (event === 'token') return typeof body.t === 'string' && body.t !== '' ? [{ type: 'text', text: body.t }] : [];
    return [
      { type: 'usage', usage: { inputTokens: count(body.in), outputTokens: count(body.out) } },
      { type: 'finish', reason: body.why === 'limit' ? 'length' : 'stop', raw: String(body.why) },
      { type: 'complete', last: true },
    ];
  }
}

/** The reason is logged; the client is told the message alone. */
function failure(reason: string): readonly StreamPart[] {
  return [
    { type: 'error', error: new ServiceError('upstream_error', 'The provider failed.', { cause: new Error(reason) }) },
  ];
}

function parse(data: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(data);
    return typeof body === 'object' && body !== null ? { ...body } : undefined;
  } catch {
    return undefined;
  }
}

/** A count that Acme did not give is unknown, not 0. */
function count(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
