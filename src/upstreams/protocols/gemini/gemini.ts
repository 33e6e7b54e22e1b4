import { z } from 'zod';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type {
  ChatCall,
  ResponseHeaders,
  AnswerReader,
  HttpProtocol,
  UpstreamRequest,
} from '../../contract/protocol.js';
import type { ProviderFailure } from '../../contract/provider-failure.js';
import { endpoint, streamHeaders, trimmedPath, VERTEX_OPTIONS, vertexBaseUrl, vertexPath } from '../shared/endpoint.js';
import { parseJsonObject } from '../shared/json-object.js';
import { JsonRequestProtocol, optionMembers } from '../shared/json-request.js';
import { geminiContents, systemInstruction } from './gemini-contents.js';
import { geminiEventParts, geminiFailure } from './gemini-event.js';
import { asArrived } from '../../../platform/common/json/json-source.js';
import type { ReasoningOptions } from '../../contract/conversation.js';
import { effortOf } from '../openai/openai-request.js';

type Effort = NonNullable<ReasoningOptions['effort']>;
type ThinkingLevel = 'minimal' | 'low' | 'medium' | 'high';

/** The budgets that Google uses for the efforts of its OpenAI interface, in tokens. */
const BUDGET_OF_EFFORT: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1_024,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
};

const LEVEL_OF_EFFORT: Readonly<Record<Effort, ThinkingLevel>> = {
  none: 'minimal',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
};

type Members = Readonly<Record<string, unknown>>;

/** Returns the members for tools. Gemini has no member against parallel calls. */
function toolMembers({ tools, toolChoice }: ChatCall): Members {
  if (tools === undefined) return {};
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: asArrived(parameters),
  }));
  return { tools: [{ functionDeclarations }], toolConfig: toolConfig(toolChoice) };
}

/** Returns the members of `generationConfig` for the format of the answer. */
function formatMembers({ responseFormat }: ChatCall): Members {
  if (responseFormat === undefined || responseFormat.type === 'text') return {};
  const json = { responseMimeType: 'application/json' };
  return responseFormat.type === 'json' ? json : { ...json, responseJsonSchema: asArrived(responseFormat.schema) };
}

/**
 * Returns `thinkingConfig`. A model takes levels if the catalog says so, or if the upstream has a level. Other models take a budget.
 *
 * @param level the level of the upstream, which applies if the request has no effort.
 */
function thinkingConfig(
  { reasoning, modelThinking }: Pick<ChatCall, 'reasoning' | 'modelThinking'>,
  level: ThinkingLevel | undefined,
): object | undefined {
  const { effort, budget_tokens: budget, include_text: includesText } = reasoning ?? {};
  const wanted = reasoning && effortOf(reasoning);
  const amount =
    level === undefined && modelThinking !== 'levels'
      ? { thinkingBudget: budget ?? (effort && BUDGET_OF_EFFORT[effort]) }
      : { thinkingLevel: wanted === undefined ? level : LEVEL_OF_EFFORT[wanted] };
  const config = { ...amount, ...(includesText === true && { includeThoughts: true }) };
  return Object.values(config).every((value) => value === undefined) ? undefined : config;
}

function toolConfig(choice: ChatCall['toolChoice']): object | undefined {
  if (choice === undefined || choice === 'auto') return undefined;
  if (choice === 'none') return { functionCallingConfig: { mode: 'NONE' } };
  const allowed = typeof choice === 'object' ? { allowedFunctionNames: [choice.tool] } : undefined;
  return { functionCallingConfig: { mode: 'ANY', ...allowed } };
}

const Options = z.strictObject({
  /** How much the model thinks before its answer. Models accept different levels, and models before Gemini 3 none. */
  thinking_level: z.enum(['minimal', 'low', 'medium', 'high']).optional(),
  ...VERTEX_OPTIONS,
});

export type GeminiOptions = z.infer<typeof Options>;

/** Matches a path with a version of the interface, such as `/v1beta` or `/v1/publishers/google`. */
const VERSION = /\/v\d\w*(?:\/|$)/;

/** Implements the native interface of Gemini (`streamGenerateContent`). */
export class GeminiProtocol extends JsonRequestProtocol<GeminiOptions> implements HttpProtocol<GeminiOptions> {
  readonly transport = 'http';
  readonly name = 'gemini';
  readonly options = Options;
  readonly generationOptions = {
    temperature: 'temperature',
    top_p: 'topP',
    stop: 'stopSequences',
    seed: 'seed',
    presence_penalty: 'presencePenalty',
    frequency_penalty: 'frequencyPenalty',
  } as const;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  baseUrl({ options }: UpstreamConfig<GeminiOptions>): URL | undefined {
    return vertexBaseUrl(options);
  }

  protected override target(call: ChatCall, upstream: UpstreamConfig<GeminiOptions>): Omit<UpstreamRequest, 'body'> {
    const { apiKey, baseUrl, options } = upstream;
    const version = baseUrl !== undefined && VERSION.test(trimmedPath(baseUrl)) ? '' : '/v1beta';
    const model = vertexPath(options, 'google', call.model) ?? `${version}/models/${call.model}`;
    return {
      url: endpoint(upstream, `${model}:streamGenerateContent`, 'alt=sse'),
      headers: streamHeaders(apiKey === undefined ? {} : { 'x-goog-api-key': apiKey }, upstream),
    };
  }

  protected override json(call: ChatCall, { options }: UpstreamConfig<GeminiOptions>): object {
    return {
      systemInstruction: systemInstruction(call.messages),
      contents: geminiContents(call),
      generationConfig: {
        ...optionMembers(call.options, this.generationOptions),
        maxOutputTokens: call.maxTokens,
        ...formatMembers(call),
        thinkingConfig: thinkingConfig(call, options.thinking_level),
      },
      ...toolMembers(call),
    };
  }

  open(): AnswerReader {
    return READER;
  }

  failure(status: number, headers: ResponseHeaders, body: string): ProviderFailure | undefined {
    return geminiFailure(status, headers, parseJsonObject(body));
  }
}

/** The token counts of each event are totals, so all streams share one reader. */
const READER: AnswerReader = { parts: geminiEventParts };
