import { z } from 'zod';
import { asArrived } from '../../../platform/common/json/json-source.js';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type { ChatCall, AnswerReader, HttpProtocol, UpstreamRequest } from '../../contract/protocol.js';
import type { ResponseFormat } from '../../contract/conversation.js';
import { effortOf } from '../openai/openai-request.js';
import { endpoint, streamHeaders } from '../shared/endpoint.js';
import { JsonRequestProtocol, optionMembers } from '../shared/json-request.js';
import { ResponsesReader } from './responses-event.js';
import { responsesInput } from './responses-input.js';

type Members = Readonly<Record<string, unknown>>;

/** The shortest answer that OpenAI accepts as a limit, in tokens. */
const MIN_MAX_TOKENS = 16;

const Options = z.strictObject({
  /** Whether summaries of the reasoning are requested. OpenAI refuses them for an organization that it has not verified. */
  summaries: z.boolean().default(true),
});
type OpenAiResponsesOptions = z.infer<typeof Options>;

/**
 * Implements the Responses interface of OpenAI. It is used without any state at the provider: each request has the whole conversation,
 * with the encrypted reasoning of earlier answers.
 */
export class OpenAiResponsesProtocol
  extends JsonRequestProtocol<OpenAiResponsesOptions>
  implements HttpProtocol<OpenAiResponsesOptions>
{
  readonly transport = 'http';
  readonly name = 'openai-responses';
  readonly options = Options;
  readonly generationOptions = { temperature: 'temperature', top_p: 'top_p' } as const;
  readonly refusedByReasoning = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'] as const;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  /** Encrypted reasoning can be read only by the account that has made it. */
  isBoundToUpstream(): boolean {
    return true;
  }

  protected override target(
    _: ChatCall,
    upstream: UpstreamConfig<OpenAiResponsesOptions>,
  ): Omit<UpstreamRequest, 'body'> {
    const { apiKey } = upstream;
    return {
      url: endpoint(upstream, '/responses'),
      headers: streamHeaders(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }, upstream),
    };
  }

  protected override json(call: ChatCall, { options }: UpstreamConfig<OpenAiResponsesOptions>): object {
    return {
      model: call.model,
      ...responsesInput(call.messages),
      stream: true,
      store: false,
      ...optionMembers(call.options, this.generationOptions),
      max_output_tokens: call.maxTokens === undefined ? undefined : Math.max(call.maxTokens, MIN_MAX_TOKENS),
      ...reasoningMembers(call, options.summaries),
      ...toolMembers(call),
      text: formatMember(call.responseFormat),
      safety_identifier: call.user,
    };
  }

  open(): AnswerReader {
    return new ResponsesReader();
  }
}

/** A model without reasoning refuses the request for the encrypted reasoning. */
function reasoningMembers({ reasoning, modelCapabilities }: ChatCall, hasSummaries: boolean): Members {
  if (modelCapabilities?.includes('reasoning') === false) return {};
  const effort = reasoning && effortOf(reasoning);
  const summary = hasSummaries && reasoning?.include_text === true && effort !== 'none' ? 'auto' : undefined;
  return {
    include: ['reasoning.encrypted_content'],
    reasoning: effort === undefined && summary === undefined ? undefined : { effort, summary },
  };
}

/** OpenAI treats a function as strict unless the request says otherwise. A strict function needs a special form of schema. */
function toolMembers({ tools, toolChoice, parallelToolCalls }: ChatCall): Members {
  if (tools === undefined) return {};
  return {
    tools: tools.map(({ name, description, parameters, strict = false }) => ({
      ...{ type: 'function', name, description },
      ...{ parameters: asArrived(parameters), strict },
    })),
    tool_choice: typeof toolChoice === 'object' ? { type: 'function', name: toolChoice.tool } : toolChoice,
    parallel_tool_calls: parallelToolCalls,
  };
}

function formatMember(format: ResponseFormat | undefined): object | undefined {
  switch (format?.type) {
    case undefined:
    case 'text':
      return undefined;
    case 'json':
      return { format: { type: 'json_object' } };
    case 'json_schema': {
      const { name, description, schema, strict } = format;
      return { format: { type: 'json_schema', name, description, schema: asArrived(schema), strict } };
    }
  }
}
