import { asArrived } from '../../../platform/common/json/json-source.js';
import type { ChatCall } from '../../contract/chat-call.js';
import type { AssistantMessage, ImageContent, Message, TextContent } from '../../contract/conversation.js';
import { effortOf } from '../openai/openai-tools.js';
import { CalledNames, argumentsObject } from '../shared/tool-calls.js';
import { requiredInlineImage } from '../shared/data-url.js';
import { InvalidMember } from '../shared/option-members.js';
import { textsForJson } from '../shared/plain-messages.js';
import { systemMessagesAt } from '../shared/system-messages.js';

type Members = Readonly<Record<string, unknown>>;

/** Returns the messages. A message of one plain text stays as it is. @throws {ServiceError} `invalid_request`, for an image that is not a data URL. */
export function ollamaMessages(messages: readonly Message[]): readonly Members[] {
  const names = new CalledNames();
  return systemMessagesAt('first', messages).flatMap((message): readonly Members[] => {
    names.add(message);
    const { role } = message;
    switch (message.role) {
      case 'assistant':
        return [answer(message.content)];
      case 'tool':
        return message.content.map((result) => ({
          role,
          tool_name: names.of(result),
          ...textAndImages(result.content),
        }));
      default:
        return [{ role, ...textAndImages(message.content) }];
    }
  });
}

/** Returns the members for tools. @throws {ServiceError} `invalid_request`, because Ollama cannot require a call. */
export function toolMembers({ tools, toolChoice }: ChatCall): Members {
  if (tools === undefined || toolChoice === 'none') return {};
  if (toolChoice !== undefined && toolChoice !== 'auto') {
    throw new InvalidMember('tool_choice', 'must be auto or none for this model: its provider cannot require a call');
  }
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters: asArrived(parameters) },
    })),
  };
}

/** Returns the member `format`. */
export function formatOf({ responseFormat }: ChatCall): unknown {
  if (responseFormat?.type === 'json') return 'json';
  return responseFormat?.type === 'json_schema' ? asArrived(responseFormat.schema) : undefined;
}

/** Returns the member `think`: whether the model reasons, or a level if the model takes levels. Other models refuse a level. */
export function thinkOf({ reasoning, modelThinking }: ChatCall): boolean | string | undefined {
  const effort = reasoning && effortOf(reasoning);
  if (effort === undefined) return undefined;
  if (effort === 'none') return false;
  if (modelThinking !== 'levels') return true;
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' ? 'high' : effort;
}

function answer(content: AssistantMessage['content']): Members {
  if (typeof content === 'string') return { role: 'assistant', content };
  const thinking = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('');
  const calls = content.flatMap((part) =>
    part.type === 'tool_call' ? [{ function: { name: part.name, arguments: argumentsObject(part.json) } }] : [],
  );
  return {
    role: 'assistant',
    content: textsForJson(content),
    ...(thinking !== '' && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function textAndImages(content: string | readonly (TextContent | ImageContent)[]): Members {
  if (typeof content === 'string') return { content };
  const images = content.flatMap((part) => (part.type === 'image' ? [requiredInlineImage(part).base64] : []));
  return {
    content: textsForJson(content),
    ...(images.length > 0 && { images }),
  };
}
