import { asArrived } from '../../../platform/common/json/json-source.js';
import type { ChatCall } from '../../contract/protocol.js';
import type { ReasoningOptions, Tool } from '../../contract/conversation.js';
import { effortOf } from '../openai/openai-request.js';
import { InvalidMember } from '../shared/json-request.js';
import { beginsWithReasoning, cacheMember, type Turn } from './anthropic-messages.js';

/** The smallest budget for reasoning that Anthropic accepts, in tokens. */
const MIN_BUDGET = 1_024;
const MIN_TOP_P_WITH_REASONING = 0.95;

/** The share of the answer's tokens that an effort may use for reasoning. */
const SHARE_OF_EFFORT: Readonly<Record<NonNullable<ReasoningOptions['effort']>, number>> = {
  none: 0,
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
};

type Members = Readonly<Record<string, unknown>>;

/** Returns the members for tools. */
export function toolMembers({ tools, toolChoice, parallelToolCalls }: ChatCall): Members {
  if (tools === undefined) return {};
  return { tools: tools.map(toolMember), tool_choice: choiceMember(toolChoice, parallelToolCalls) };
}

/**
 * Returns the members for reasoning. The budget is less than the tokens of the whole answer. An answer of fewer tokens than the
 * smallest budget gets no reasoning, and so does one that must call a tool: Anthropic refuses both together. The same is true after a
 * tool call without reasoning of Anthropic, for example of another provider.
 *
 * @param maxTokens the maximum number of tokens of the answer.
 */
export function reasoningMembers(call: ChatCall, maxTokens: number, turns: readonly Turn[]): Members {
  const { reasoning, toolChoice } = call;
  if (call.modelThinking === 'adaptive')
    return { thinking: adaptiveThinking(call), temperature: undefined, top_p: undefined };
  const share = reasoning?.effort === undefined ? 0 : SHARE_OF_EFFORT[reasoning.effort];
  const wanted = reasoning?.budget_tokens ?? (share === 0 ? 0 : Math.max(MIN_BUDGET, Math.floor(share * maxTokens)));
  if (wanted === 0 || maxTokens <= MIN_BUDGET) return {};
  if (isCallDemanded(toolChoice) || isInForeignToolUse(turns)) return {};
  const budget = Math.min(Math.max(wanted, MIN_BUDGET), maxTokens - 1);
  return {
    thinking: { type: 'enabled', budget_tokens: budget },
    // With reasoning, Anthropic takes only its own temperature, and only a high `top_p`.
    temperature: undefined,
    ...(call.options.top_p !== undefined &&
      call.options.top_p < MIN_TOP_P_WITH_REASONING && { top_p: MIN_TOP_P_WITH_REASONING }),
  };
}

/**
 * Returns the member for the format of the answer, and for the effort of a model that decides itself how much it reasons.
 *
 * @throws {ServiceError} `invalid_request` for JSON without a schema.
 */
export function outputConfig({ responseFormat, reasoning, modelThinking }: ChatCall): Members | undefined {
  if (responseFormat?.type === 'json')
    throw new InvalidMember('response_format', 'must have a JSON schema for this model');
  const format = responseFormat?.type === 'json_schema' && {
    type: 'json_schema',
    schema: asArrived(responseFormat.schema),
  };
  const effort = modelThinking === 'adaptive' && reasoning ? adaptiveEffort(reasoning) : undefined;
  if (!format && effort === undefined) return undefined;
  return { ...(format && { format }), effort };
}

/** A model that decides itself takes no budget. Without any wish of the request, the model's own default applies. */
function adaptiveThinking({ reasoning, toolChoice }: ChatCall): Members | undefined {
  if (reasoning === undefined) return undefined;
  if (reasoning.effort === 'none') return { type: 'disabled' };
  if (isCallDemanded(toolChoice)) return undefined;
  const { include_text: includesText } = reasoning;
  const display = includesText === undefined ? undefined : includesText ? 'summarized' : 'omitted';
  return { type: 'adaptive', display };
}

/** The smallest effort of these models is `low`. */
function adaptiveEffort(reasoning: ReasoningOptions): string | undefined {
  const effort = effortOf(reasoning);
  if (effort === 'none') return undefined;
  return effort === 'minimal' ? 'low' : effort;
}

function isCallDemanded(choice: ChatCall['toolChoice']): boolean {
  return choice === 'required' || typeof choice === 'object';
}

function toolMember({ name, description, parameters, strict, cache }: Tool): Members {
  return {
    name,
    description,
    input_schema: asArrived(parameters),
    ...(strict === true && { strict }),
    ...cacheMember(cache),
  };
}

function choiceMember(choice: ChatCall['toolChoice'], isParallel: boolean | undefined): Members | undefined {
  if (choice === 'none') return { type: 'none' };
  const single = isParallel === false ? { disable_parallel_tool_use: true } : undefined;
  if (choice === undefined || choice === 'auto') return single && { type: 'auto', ...single };
  return choice === 'required' ? { type: 'any', ...single } : { type: 'tool', name: choice.tool, ...single };
}

/** Whether the last answer has called tools without reasoning of Anthropic, and the results of these calls follow. */
function isInForeignToolUse(turns: readonly Turn[]): boolean {
  const answer = turns.findLast(({ role }) => role === 'assistant');
  if (answer === undefined || typeof answer.content === 'string') return false;
  return answer.content.some(({ type }) => type === 'tool_use') && !beginsWithReasoning(answer);
}
