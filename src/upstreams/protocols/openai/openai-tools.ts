import { asArrived } from '../../../platform/common/json/json-source.js';
import type { ChatCall } from '../../contract/chat-call.js';
import type { ReasoningOptions, ResponseFormat, ToolChoice } from '../../contract/conversation.js';

/** Reasoning with at most this many tokens corresponds to the effort. OpenAI has no budget of tokens. */
const LOW_BUDGET = 2_048;
const MEDIUM_BUDGET = 8_192;

type Members = Pick<ChatCall, 'tools' | 'toolChoice' | 'parallelToolCalls' | 'responseFormat' | 'reasoning' | 'user'>;

/** Returns the members of a request for tools, a response format and reasoning. Members that are not needed are `undefined`. */
export function conversationMembers(call: Members): Readonly<Record<string, unknown>> {
  const { tools, toolChoice, parallelToolCalls, responseFormat, reasoning, user } = call;
  const offersTools = tools !== undefined;
  return {
    tools: tools?.map(({ name, description, parameters, strict }) => ({
      type: 'function',
      function: { name, description, parameters: asArrived(parameters), strict },
    })),
    tool_choice: offersTools && toolChoice !== undefined ? choice(toolChoice) : undefined,
    parallel_tool_calls: offersTools ? parallelToolCalls : undefined,
    response_format: responseFormat && format(responseFormat),
    reasoning_effort: reasoning && effortOf(reasoning),
    user,
  };
}

function choice(toolChoice: ToolChoice): string | object {
  return typeof toolChoice === 'string' ? toolChoice : { type: 'function', function: { name: toolChoice.tool } };
}

function format(responseFormat: ResponseFormat): object | undefined {
  switch (responseFormat.type) {
    case 'text':
      return undefined;
    case 'json':
      return { type: 'json_object' };
    case 'json_schema': {
      const { name, description, schema, strict } = responseFormat;
      return { type: 'json_schema', json_schema: { name, description, schema: asArrived(schema), strict } };
    }
  }
}

/** Returns the effort. OpenAI has no budget of tokens, so a budget becomes an effort. */
export function effortOf({ effort: given, budget_tokens: budget }: ReasoningOptions): ReasoningOptions['effort'] {
  if (given !== undefined || budget === undefined) return given;
  if (budget <= LOW_BUDGET) return 'low';
  return budget <= MEDIUM_BUDGET ? 'medium' : 'high';
}
