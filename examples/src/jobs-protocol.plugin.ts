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
  type CallContext,
  type ChatCall,
  type HttpProtocol,
  type ProviderEvent,
  type StreamPart,
  type UpstreamConfig,
  type UpstreamRequest,
} from 'chat-streaming-service';

/** A provider with two requests: `POST /jobs` begins a job, and `GET /jobs/{id}/events` streams its answer. */
export class JobsProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'jobs';

  async request(call: ChatCall, upstream: UpstreamConfig, context: CallContext): Promise<UpstreamRequest> {
    const credential = upstream.apiKey === undefined ? {} : { authorization: `Bearer ${upstream.apiKey}` };
    const headers = streamHeaders(credential, upstream);
    const id = await begin(call, upstream, headers, context);
    const job = `/jobs/${encodeURIComponent(id)}`;
    context.afterAttempt(async (fetch, end) => {
      // A job that has answered needs no end. Every other job would go on, and cost money.
      if (end !== 'complete') await fetch(endpoint(upstream, job), { method: 'DELETE', headers });
    });
    return { method: 'GET', url: endpoint(upstream, `${job}/events`), headers, body: '' };
  }

  open(): AnswerReader {
    return { parts };
  }
}

async function begin(
  { model, messages, maxTokens }: ChatCall,
  upstream: UpstreamConfig,
  headers: Readonly<Record<string, string>>,
  { fetch }: CallContext,
): Promise<string> {
  const body = JSON.stringify({ model, messages, limit: maxTokens });
  const response = await fetch(endpoint(upstream, '/jobs'), { method: 'POST', headers, body });
  const text = await response.text();
  const id = parseJsonObject(text)?.id;
  if (response.status === 429) throw providerFailure('upstream_unavailable', 'The provider has too many jobs.');
  if (!response.ok || !isText(id)) throw providerFailure('upstream_error', 'The provider did not begin the job.');
  return id;
}

function parts({ event, data }: ProviderEvent): readonly StreamPart[] {
  const body = parseJsonObject(data);
  if (event === 'error') return errorEventParts(data, body);
  if (body === undefined) return data.trim() === '' ? [] : unreadableEventParts(data);
  if (isText(body.piece)) return [{ type: 'text', text: body.piece }];
  if (body.state !== 'done') return [];
  return [
    { type: 'finish', reason: 'stop', raw: 'done' },
    { type: 'complete', last: true },
  ];
}

@ChatPlugin({ name: 'jobs', compatibility: '^1', protocols: [JobsProtocol] })
export class JobsPlugin {}
