import { z } from 'zod';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type {
  ChatCall,
  AnswerReader,
  HttpProtocol,
  ResponseHeaders,
  UpstreamRequest,
} from '../../contract/protocol.js';
import type { ProviderFailure } from '../../contract/provider-failure.js';
import { awsEventStream } from '../../transport/aws-event-stream.js';
import { endpoint, streamHeaders } from '../shared/endpoint.js';
import { JsonRequestProtocol, optionMembers, InvalidMember } from '../shared/json-request.js';
import { bedrockHttpFailure } from './bedrock-failure.js';
import { ConverseReader } from './converse-event.js';
import { conversePrompt, cachePoints, type ConverseBlock, type ConversePrompt } from './converse-messages.js';
import { asArrived, jsonSource } from '../../../platform/common/json/json-source.js';
import type { Tool } from '../../contract/conversation.js';
import { reasoningMembers } from '../anthropic/anthropic-features.js';
import type { Turn } from '../anthropic/anthropic-messages.js';
import { effortOf } from '../openai/openai-request.js';

type Members = Readonly<Record<string, unknown>>;

/** The limit if neither the caller nor the catalog sets one. Only a budget of reasoning needs it. */
const DEFAULT_MAX_TOKENS = 4_096;

/**
 * Returns `toolConfig`. Converse has no choice `none`: the tools are then left out.
 *
 * @throws {ServiceError} `invalid_request` if earlier messages have calls of tools, and the request offers none: Converse refuses that.
 */
function toolConfig({ tools, toolChoice }: ChatCall, { messages }: ConversePrompt): Members | undefined {
  if (tools !== undefined && toolChoice !== 'none')
    return { tools: tools.flatMap(toolBlocks), toolChoice: choiceMember(toolChoice) };
  const hasCalls = messages.some(({ content }) => content.some((block) => 'toolUse' in block || 'toolResult' in block));
  if (!hasCalls) return undefined;
  if (tools === undefined)
    throw new InvalidMember('tools', 'must hold the tools that earlier messages have called, for this model');
  throw new InvalidMember('tool_choice', 'must not be "none" after a call of a tool, for this model');
}

function toolBlocks({ name, description, parameters, strict, cache }: Tool): readonly ConverseBlock[] {
  const inputSchema = { json: asArrived(parameters) };
  return [{ toolSpec: { name, description, inputSchema, ...(strict === true && { strict }) } }, ...cachePoints(cache)];
}

function choiceMember(choice: ChatCall['toolChoice']): Members | undefined {
  if (choice === undefined || choice === 'auto') return undefined;
  return typeof choice === 'object' ? { tool: { name: choice.tool } } : { any: {} };
}

/**
 * Returns `outputConfig`: the format of the answer, and the effort of a model that takes one.
 *
 * @throws {ServiceError} `invalid_request` for JSON without a schema.
 */
function outputConfig({ responseFormat, reasoning, modelThinking }: ChatCall): Members | undefined {
  if (responseFormat?.type === 'json')
    throw new InvalidMember('response_format', 'must have a JSON schema for this model');
  const textFormat = responseFormat?.type === 'json_schema' && {
    type: 'json_schema',
    structure: {
      jsonSchema: {
        schema: jsonSource(responseFormat.schema),
        name: responseFormat.name,
        description: responseFormat.description,
      },
    },
  };
  const wanted =
    reasoning && modelThinking !== 'budget' && modelThinking !== 'switch' ? effortOf(reasoning) : undefined;
  const effort = wanted === 'minimal' ? 'low' : wanted === 'none' ? undefined : wanted;
  return !textFormat && effort === undefined ? undefined : { ...(textFormat && { textFormat }), effort };
}

/**
 * Returns the members of `additionalModelRequestFields` for a model that takes the reasoning of Anthropic, and what else its reasoning
 * changes.
 */
function thinkingOf(call: ChatCall, turns: readonly Turn[]) {
  const { modelThinking } = call;
  if (modelThinking !== 'budget' && modelThinking !== 'adaptive') return undefined;
  const maxTokens = call.maxTokens ?? call.modelMaxOutputTokens ?? DEFAULT_MAX_TOKENS;
  const { thinking, ...others } = reasoningMembers(call, maxTokens, turns);
  return {
    fields: thinking === undefined ? undefined : { thinking },
    inference: {
      ...('temperature' in others && { temperature: undefined }),
      ...('top_p' in others && { topP: others.top_p }),
      ...(modelThinking === 'budget' && thinking !== undefined && { maxTokens }),
    },
  };
}

const Options = z.strictObject({
  /** The region of the endpoint. By default that of the credentials. */
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be the name of a region, such as us-east-1')
    .optional(),
  /** The guardrail that checks each request and each answer. */
  guardrail: z.strictObject({ id: z.string().min(1), version: z.string().min(1) }).optional(),
  /** Whether long prompts are marked for the prompt cache. Only some models take marks. */
  prompt_caching: z.boolean().default(false),
});
export type BedrockOptions = z.infer<typeof Options>;

/** Implements `ConverseStream` of Amazon Bedrock, the one interface for all of its models. */
export class BedrockProtocol extends JsonRequestProtocol<BedrockOptions> implements HttpProtocol<BedrockOptions> {
  readonly transport = 'http';
  readonly name = 'bedrock';
  readonly options = Options;
  readonly framing = awsEventStream;
  readonly generationOptions = { temperature: 'temperature', top_p: 'topP', stop: 'stopSequences' } as const;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  baseUrl({ options, credentials }: UpstreamConfig<BedrockOptions>): URL | undefined {
    const region = options.region ?? credentials?.options.region;
    if (typeof region !== 'string') return undefined;
    return new URL(`https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`);
  }

  protected override target(call: ChatCall, upstream: UpstreamConfig<BedrockOptions>): Omit<UpstreamRequest, 'body'> {
    const { apiKey } = upstream;
    const credential = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    return {
      // The id of a model can be an ARN. With a slash of an ARN in the path, Bedrock answers 200 and `UnknownOperationException`.
      url: endpoint(upstream, `/model/${encodeURIComponent(call.model)}/converse-stream`),
      headers: streamHeaders({ accept: 'application/vnd.amazon.eventstream', ...credential }, upstream),
    };
  }

  protected override json(call: ChatCall, { options }: UpstreamConfig<BedrockOptions>): object {
    const prompt = conversePrompt(call, options.prompt_caching);
    const thinking = thinkingOf(call, prompt.turns);
    const inference = {
      maxTokens: call.maxTokens,
      ...optionMembers(call.options, this.generationOptions),
      ...thinking?.inference,
    };
    return {
      system: prompt.system,
      messages: prompt.messages,
      inferenceConfig: inference,
      toolConfig: toolConfig(call, prompt),
      outputConfig: outputConfig(call),
      additionalModelRequestFields: thinking?.fields,
      guardrailConfig: options.guardrail && {
        guardrailIdentifier: options.guardrail.id,
        guardrailVersion: options.guardrail.version,
      },
    };
  }

  open(): AnswerReader {
    return new ConverseReader();
  }

  failure(status: number, headers: ResponseHeaders, body: string): ProviderFailure | undefined {
    return bedrockHttpFailure(status, headers, body);
  }
}
