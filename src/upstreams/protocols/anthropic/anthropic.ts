import { z } from 'zod';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type { ChatCall, AnswerReader, HttpProtocol, UpstreamRequest, ProviderEvent } from '../../contract/protocol.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { AnthropicEvents } from './anthropic-event.js';
import { endpoint, streamHeaders, trimmedPath, VERTEX_OPTIONS, vertexBaseUrl, vertexPath } from '../shared/endpoint.js';
import { errorEventParts, unreadableEventParts, NOTHING, RepeatedEvent } from '../shared/event-parts.js';
import { parseJsonObject } from '../shared/json-object.js';
import { JsonRequestProtocol, optionMembers } from '../shared/json-request.js';
import { outputConfig, reasoningMembers, toolMembers } from './anthropic-features.js';
import { anthropicPrompt } from './anthropic-messages.js';

/** The limit if neither the caller nor the catalog sets one. Anthropic requires a limit in each request. */
const DEFAULT_MAX_TOKENS = 4096;

const HIGHEST_TEMPERATURE = 1;

const Options = z.strictObject({
  /** Whether long prompts are marked for the prompt cache. A written token costs a quarter more, a read token a tenth. */
  prompt_caching: z.boolean().default(true),
  ...VERTEX_OPTIONS,
});
export type AnthropicOptions = z.infer<typeof Options>;

/** Implements the messages interface of Anthropic, for Anthropic and for providers with the same interface. */
export class AnthropicProtocol extends JsonRequestProtocol<AnthropicOptions> implements HttpProtocol<AnthropicOptions> {
  readonly transport = 'http';
  readonly name = 'anthropic';
  readonly options = Options;
  readonly generationOptions = {
    temperature: 'temperature',
    top_p: 'top_p',
    stop: 'stop_sequences',
  } as const;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  baseUrl({ options }: UpstreamConfig<AnthropicOptions>): URL | undefined {
    return vertexBaseUrl(options);
  }

  protected override target(call: ChatCall, upstream: UpstreamConfig<AnthropicOptions>): Omit<UpstreamRequest, 'body'> {
    const path = upstream.baseUrl !== undefined && trimmedPath(upstream.baseUrl).endsWith('/v1') ? '' : '/v1';
    const atVertex = vertexPath(upstream.options, 'anthropic', call.model);
    return {
      url: endpoint(upstream, atVertex === undefined ? `${path}/messages` : `${atVertex}:streamRawPredict`),
      headers: streamHeaders(
        {
          ...(atVertex === undefined && { 'anthropic-version': '2023-06-01' }),
          ...(upstream.apiKey !== undefined && { 'x-api-key': upstream.apiKey }),
        },
        upstream,
      ),
    };
  }

  protected override json(call: ChatCall, { options }: UpstreamConfig<AnthropicOptions>): object {
    const { system, messages } = anthropicPrompt(call, options.prompt_caching);
    const maxTokens = call.maxTokens ?? call.modelMaxOutputTokens ?? DEFAULT_MAX_TOKENS;
    const isAtVertex = vertexPath(options, 'anthropic', call.model) !== undefined;
    return {
      // Vertex AI has the model in the path, and the version in the body.
      ...(isAtVertex ? { anthropic_version: 'vertex-2023-10-16' } : { model: call.model }),
      max_tokens: maxTokens,
      system,
      messages,
      stream: true,
      ...optionMembers(call.options, this.generationOptions),
      temperature: anthropicTemperature(call.options.temperature),
      ...toolMembers(call),
      output_config: outputConfig(call),
      ...reasoningMembers(call, maxTokens, messages),
      metadata: call.user === undefined ? undefined : { user_id: call.user },
    };
  }

  open(): AnswerReader {
    return new AnthropicReader();
  }
}

/** The names of events that can have a piece of the answer. Anthropic demands that clients ignore events with other names. */
const KNOWN = /^(?:message$|message_|content_block_)/;

class AnthropicReader implements AnswerReader {
  private readonly repeated = new RepeatedEvent();
  private readonly events = new AnthropicEvents();

  parts({ event, data }: ProviderEvent): readonly StreamPart[] {
    const repeated = event === 'error' ? undefined : this.repeated.textOf(data);
    if (repeated !== undefined) return [{ type: 'text', text: repeated }];
    const body = parseJsonObject(data);
    if (event === 'error') return errorEventParts(data, body);
    if (body !== undefined) {
      const parts = this.events.parts(body);
      this.repeated.record(data, parts);
      return parts;
    }
    return KNOWN.test(event) ? unreadableEventParts(data) : NOTHING;
  }
}

/**
 * Limits the temperature to 1, the maximum of Anthropic. The maximum of this service is 2.
 *
 * Values up to 1 are not scaled, because they have the same meaning in both: 1 is the distribution of the model, and lower
 * values are more predictable. Halving all values would make every usual answer more predictable than the caller asked for.
 */
function anthropicTemperature(temperature: number | undefined): number | undefined {
  return temperature === undefined ? undefined : Math.min(temperature, HIGHEST_TEMPERATURE);
}
