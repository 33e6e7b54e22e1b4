import { ServiceError } from '../../common/service-error.js';
import type { UpstreamConfig } from '../../config/config.js';
import type { ChatCall, ChatMessage } from '../chat-call.js';
import type { HttpProtocol, ServerSentEvent, UpstreamRequest } from '../protocol.js';
import type { StreamPart } from '../stream-part.js';
import { anthropicEventParts } from './anthropic-event.js';
import { endpoint, streamHeaders, trimmedPath } from './endpoint.js';
import { errorEventParts, unreadableEventParts } from './event-failure.js';
import { NOTHING } from './fixed-parts.js';
import { jsonBody } from './json-body.js';
import { parseJsonObject } from './json-object.js';

/** Anthropic answers nothing without a limit: what it gets where neither the caller nor the catalog knows one. */
const DEFAULT_MAX_TOKENS = 4096;

const HIGHEST_TEMPERATURE = 1;

/** Anthropic's messages, for Anthropic itself and for those who copy its interface. */
export class AnthropicProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'anthropic';

  request(call: ChatCall, upstream: UpstreamConfig): UpstreamRequest {
    const system = call.messages.filter(({ role }) => role === 'system').map(({ content }) => content);
    const path = upstream.baseUrl !== undefined && trimmedPath(upstream.baseUrl).endsWith('/v1') ? '' : '/v1';
    return {
      url: endpoint(upstream, `${path}/messages`),
      headers: streamHeaders(
        {
          'anthropic-version': '2023-06-01',
          ...(upstream.apiKey !== undefined && { 'x-api-key': upstream.apiKey }),
        },
        upstream,
      ),
      body: jsonBody(
        {
          model: call.model,
          max_tokens: call.maxTokens ?? call.modelMaxOutputTokens ?? DEFAULT_MAX_TOKENS,
          system: system.length === 0 ? undefined : system.join('\n\n'),
          messages: conversation(call.messages),
          stream: true,
          temperature: anthropicTemperature(call.temperature),
        },
        call.messages,
      ),
    };
  }

  parts(event: ServerSentEvent): readonly StreamPart[] {
    const { data } = event;
    const body = parseJsonObject(data);
    if (event.event === 'error') return errorEventParts(data, body);
    if (body !== undefined) return anthropicEventParts(body);
    // An event without anything in it keeps the connection alive.
    return data.trim() === '' ? NOTHING : unreadableEventParts(data);
  }
}

/** All but the system messages, which have a place of their own. Neighbours of one role may stay: Anthropic joins them. */
function conversation(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const turns = messages.filter(({ role }) => role !== 'system');
  if (turns[0]?.role !== 'user') {
    const message =
      turns.length === 0
        ? 'must hold at least one message of role "user" for this model'
        : 'must begin with a message of role "user", after those of role "system", for this model';
    throw new ServiceError('invalid_request', `The field messages ${message}.`, {
      details: [{ field: 'messages', message }],
    });
  }
  return turns;
}

/**
 * Our scale ends at 2, Anthropic's at 1. Both divide by the same number: 1 is the model's own distribution, below it is
 * more predictable. So equal values mean the same, and what lies above gets the nearest that Anthropic has. Halving would
 * make every ordinary value half as lively as the caller asked for.
 */
function anthropicTemperature(temperature: number | undefined): number | undefined {
  return temperature === undefined ? undefined : Math.min(temperature, HIGHEST_TEMPERATURE);
}
