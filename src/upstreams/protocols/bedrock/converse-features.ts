import { asArrived, jsonSource } from '../../../platform/common/json/json-source.js';
import type { ChatCall } from '../../contract/chat-call.js';
import type { Tool } from '../../contract/conversation.js';
import { reasoningMembers } from '../anthropic/anthropic-features.js';
import type { Turn } from '../anthropic/anthropic-blocks.js';
import { effortOf } from '../openai/openai-tools.js';
import { InvalidMember } from '../shared/invalid-member.js';
import { cachePoints, type ConverseBlock, type ConversePrompt } from './converse-messages.js';

type Members = Readonly<Record<string, unknown>>;

/** The limit if neither the caller nor the catalog sets one. Only a budget of reasoning needs it. */
const DEFAULT_MAX_TOKENS = 4_096;

/**
 * Returns `toolConfig`. Converse has no choice `none`: the tools are then left out.
 *
 * @throws {ServiceError} `invalid_request` if earlier messages have calls of tools, and the request offers none: Converse refuses that.
 */
export function toolConfig({ tools, toolChoice }: ChatCall, { messages }: ConversePrompt): Members | undefined {
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
export function outputConfig({ responseFormat, reasoning, modelThinking }: ChatCall): Members | undefined {
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
export function thinkingOf(call: ChatCall, turns: readonly Turn[]) {
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
