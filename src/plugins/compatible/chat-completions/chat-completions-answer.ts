import { type Completion, EVENT_STREAM_TYPE, sseEvent, type StreamFormat } from '../../../plugin-api/core/chat.js';
import type { CompletionPart, FinishReason } from '../../../plugin-api/core/upstreams.js';
import type { AnswerUsage, AnswerFacts, AnswerFormat } from '../shared/compatible-answers.js';
import { customInput } from '../shared/custom-tools.js';
import { openAiError, placedField, type BodyNames } from '../shared/error-formats.js';
import type { ChatCompletionsRequest } from './chat-completions-request.js';

const LAST = 'data: [DONE]\n\n';

/** Writes answers in the format of Chat Completions. */
export function chatCompletionsFormat(request: ChatCompletionsRequest): AnswerFormat {
  const { includesUsage, hasNewerLimit, places } = request;
  const customTools = new Set(request.customTools);
  const names = chatCompletionsNames(hasNewerLimit);
  return {
    bodyField: (field) => placedField(field, places, names),
    stream: (facts) => streamFormat(facts, includesUsage, customTools),
    whole: (completion, facts) => wholeAnswer(completion, facts, customTools),
  };
}

function streamFormat(facts: AnswerFacts, includesUsage: boolean, customTools: ReadonlySet<string>): StreamFormat {
  const base = { ...identity(facts), object: 'chat.completion.chunk' };
  const indexes = new Map<string, number>();
  /** The arguments so far of the calls of custom tools, whose input is sent when it is complete. */
  const custom = new Map<string, string>();
  let finish: FinishReason = 'other';
  let hasStarted = false;
  const chunk = (delta: object, finishReason: string | null = null): string =>
    sseEvent({ ...base, choices: [{ index: 0, delta, finish_reason: finishReason }] });
  const first = (): string => {
    if (hasStarted) return '';
    hasStarted = true;
    return chunk({ role: 'assistant', content: '' });
  };
  const deltaOf = (part: CompletionPart): object | undefined => {
    switch (part.type) {
      case 'text':
        return { content: part.text };
      case 'reasoning':
        return part.text === '' ? undefined : { reasoning_content: part.text };
      case 'tool_call_start':
        indexes.set(part.id, part.index);
        if (customTools.has(part.name)) custom.set(part.id, '');
        return { tool_calls: [{ index: part.index, ...callOf(part, '', customTools) }] };
      case 'tool_call_delta':
        if (custom.has(part.id)) {
          custom.set(part.id, (custom.get(part.id) ?? '') + part.json);
          return undefined;
        }
        return { tool_calls: [{ index: indexes.get(part.id) ?? 0, function: { arguments: part.json } }] };
      case 'tool_call_end': {
        const json = custom.get(part.id);
        if (json === undefined) return undefined;
        return { tool_calls: [{ index: indexes.get(part.id) ?? 0, custom: { input: customInput(json) } }] };
      }
      case 'finish':
        finish = part.reason;
        return undefined;
      default:
        return undefined;
    }
  };
  return {
    contentType: EVENT_STREAM_TYPE,
    part: (part) => {
      const delta = deltaOf(part);
      return delta && first() + chunk(delta);
    },
    keepAlive: () => ': keep-alive\n\n',
    end: () => {
      const usage = includesUsage ? sseEvent({ ...base, choices: [], usage: usageOf(facts.usage()) }) : '';
      return first() + chunk({}, finishReasonOf(finish, indexes.size > 0)) + usage + LAST;
    },
    error: (error) => sseEvent(openAiError(error)),
  };
}

function wholeAnswer(completion: Completion, facts: AnswerFacts, customTools: ReadonlySet<string>): object {
  const { text, content, toolCalls, reasoning, finishReason } = completion;
  const reasoningText = reasoning.map((block) => block.text).join('');
  return {
    ...identity(facts),
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content.some(({ type }) => type === 'text') || toolCalls.length === 0 ? text : null,
          refusal: null,
          ...(reasoningText !== '' && { reasoning_content: reasoningText }),
          ...(toolCalls.length > 0 && { tool_calls: toolCalls.map((call) => callOf(call, call.json, customTools)) }),
        },
        logprobs: null,
        finish_reason: finishReasonOf(finishReason, toolCalls.length > 0),
      },
    ],
    usage: usageOf(facts.usage()),
  };
}

function identity({ id, createdSeconds, model }: AnswerFacts) {
  return { id: `chatcmpl-${id}`, created: createdSeconds, model };
}

interface NamedCall {
  readonly id: string;
  readonly name: string;
  readonly signature?: string | undefined;
}

/** The signature stands where clients of Gemini keep it and send it back. */
function callOf({ id, name, signature }: NamedCall, json: string, customTools: ReadonlySet<string>): object {
  return {
    id,
    ...(customTools.has(name)
      ? { type: 'custom', custom: { name, input: json === '' ? '' : customInput(json) } }
      : { type: 'function', function: { name, arguments: json } }),
    ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
  };
}

function finishReasonOf(reason: FinishReason, hasCalls: boolean): string {
  if (reason !== 'other') return reason;
  return hasCalls ? 'tool_calls' : 'stop';
}

/** The format has no unknown counts: a total of unknown parts is left out. */
function usageOf({ inputTokens, outputTokens, cachedInputTokens, reasoningOutputTokens }: AnswerUsage): object | null {
  if (inputTokens === undefined || outputTokens === undefined) return null;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(cachedInputTokens !== undefined && { prompt_tokens_details: { cached_tokens: cachedInputTokens } }),
    ...(reasoningOutputTokens !== undefined && {
      completion_tokens_details: { reasoning_tokens: reasoningOutputTokens },
    }),
  };
}

/** @param hasNewerLimit whether the body has `max_completion_tokens`. */
export const chatCompletionsNames = (hasNewerLimit: boolean): BodyNames => ({
  members: [
    [/^(tools\.\d+)\./, '$1.function.'],
    [/^tool_choice\.tool$/, 'tool_choice.function.name'],
    [/^response_format\./, 'response_format.json_schema.'],
    [/^reasoning\.effort$/, 'reasoning_effort'],
    ...(hasNewerLimit ? [[/^max_tokens$/, 'max_completion_tokens'] as const] : []),
  ],
  partMembers: [
    [/\.toolCallId$/, '.tool_call_id'],
    [/\.(?:url|mediaType)$/, '.image_url.url'],
    [/\.json$/, '.function.arguments'],
    [/\.name$/, '.function.name'],
  ],
});
