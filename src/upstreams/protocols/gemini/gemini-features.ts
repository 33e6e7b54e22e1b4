import { asArrived } from '../../../platform/common/json/json-source.js';
import type { ChatCall } from '../../contract/chat-call.js';
import type { ReasoningOptions } from '../../contract/conversation.js';
import { effortOf } from '../openai/openai-tools.js';

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
export function toolMembers({ tools, toolChoice }: ChatCall): Members {
  if (tools === undefined) return {};
  const functionDeclarations = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: asArrived(parameters),
  }));
  return { tools: [{ functionDeclarations }], toolConfig: toolConfig(toolChoice) };
}

/** Returns the members of `generationConfig` for the format of the answer. */
export function formatMembers({ responseFormat }: ChatCall): Members {
  if (responseFormat === undefined || responseFormat.type === 'text') return {};
  const json = { responseMimeType: 'application/json' };
  return responseFormat.type === 'json' ? json : { ...json, responseJsonSchema: asArrived(responseFormat.schema) };
}

/**
 * Returns `thinkingConfig`. A model takes levels if the catalog says so, or if the upstream has a level. Other models take a budget.
 *
 * @param level the level of the upstream, which applies if the request has no effort.
 */
export function thinkingConfig(
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
