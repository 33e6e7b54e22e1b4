import type { AssistantMessage, Message, ToolResult, UserMessage } from '../../../plugin-api/core/upstreams.js';
import { partsOf, pathsOf, withoutEmpty, type Located, type MappedMessage } from '../shared/body-fields.js';
import { textAt } from '../shared/checked-body.js';
import { detailOf } from '../shared/common-members.js';
import { customArguments } from '../shared/custom-tools.js';
import type { AssistantBody, CallBody, MessageBody, Texts, UserContent } from './chat-completions-body.js';

type AnswerPart = Exclude<AssistantMessage['content'], string>[number];
type UserPart = Exclude<UserMessage['content'], string>[number];

/** Converts the messages of a request. Neighbouring messages of tools become one message with several results. */
export function mappedMessages(messages: readonly MessageBody[]): MappedMessage[] {
  const mapped: MappedMessage[] = [];
  for (const [index, body] of messages.entries()) {
    const path = `messages.${index}`;
    switch (body.role) {
      case 'system':
      case 'developer':
        mapped.push({ message: { role: 'system', content: textOf(body.content) }, path, parts: [] });
        break;
      case 'user':
        mapped.push(userMessage(body.content, path));
        break;
      case 'assistant': {
        const content = answerOf(body, path);
        // An empty answer tells the model nothing.
        if (content.length === 0) break;
        mapped.push({ message: { role: 'assistant', content: partsOf(content) }, path, parts: pathsOf(content) });
        break;
      }
      case 'tool':
        addResult(mapped, { toolCallId: body.tool_call_id, content: textOf(body.content) }, path);
        break;
    }
  }
  return withoutEmpty(mapped);
}

function textOf(content: Texts | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : part.refusal)).join('');
}

/** Parts without any text are left out. */
function userMessage(body: UserContent, path: string): MappedMessage {
  if (typeof body === 'string') return { message: { role: 'user', content: body }, path, parts: [] };
  const content = body.flatMap((part, index): Located<UserPart>[] => {
    const at = `${path}.content.${index}`;
    if (part.type === 'text') return part.text === '' ? [] : [{ part, path: at }];
    const { url, detail } = part.image_url;
    return [{ part: { type: 'image', url, ...detailOf(detail) }, path: at }];
  });
  return { message: { role: 'user', content: partsOf(content) }, path, parts: pathsOf(content) };
}

function answerOf(body: AssistantBody, path: string): readonly Located<AnswerPart>[] {
  const reasoning = body.reasoning_content ?? textAt(body.reasoning, `${path}.reasoning`);
  const text = textOf(body.content);
  const calls = (body.tool_calls ?? []).map((call, index) => ({
    part: callOf(call),
    path: `${path}.tool_calls.${index}`,
  }));
  const at = `${path}.content`;
  return [
    ...(reasoning ? [{ part: { type: 'reasoning' as const, text: reasoning }, path: at }] : []),
    ...(text ? [{ part: { type: 'text' as const, text }, path: at }] : []),
    ...calls,
  ];
}

function callOf(call: CallBody): AnswerPart {
  const signature = call.extra_content?.google?.thought_signature;
  return {
    type: 'tool_call',
    id: call.id,
    // Some clients send no arguments for a tool without parameters.
    ...('custom' in call
      ? { name: call.custom.name, json: customArguments(call.custom.input) }
      : { name: call.function.name, json: call.function.arguments || '{}' }),
    ...(signature && { signature }),
  };
}

function addResult(mapped: MappedMessage[], result: ToolResult, path: string): void {
  const last = mapped.at(-1);
  if (last?.message.role === 'tool') {
    const message: Message = { role: 'tool', content: [...last.message.content, result] };
    mapped[mapped.length - 1] = { message, path: last.path, parts: [...last.parts, path] };
  } else {
    mapped.push({ message: { role: 'tool', content: [result] }, path, parts: [path] });
  }
}
