import type { AssistantMessage, Message, ToolResult, UserMessage } from '../../upstreams/contract/conversation.js';
import { Members, refused } from '../shared/members.js';

type AnswerParts = Exclude<AssistantMessage['content'], string>;
type UserParts = Exclude<UserMessage['content'], string>;

/** Converts the messages of a request. Neighbouring messages of tools become one message with several results. */
export function messagesOf(messages: readonly unknown[]): Message[] {
  const converted: Message[] = [];
  for (const [index, value] of messages.entries()) {
    const members = Members.of(value, `messages.${index}`);
    const role = members.text('role');
    if (role === 'tool') addResult(converted, members);
    else converted.push(...messageOf(role, members));
  }
  return converted;
}

function messageOf(role: string | undefined, members: Members): Message[] {
  switch (role) {
    case 'system':
    case 'developer':
      return [{ role: 'system', content: textsOf(members) ?? '' }];
    case 'user':
      return [{ role: 'user', content: userContentOf(members) }];
    case 'assistant': {
      const content = answerOf(members);
      // An empty answer tells the model nothing.
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
    case undefined:
      throw members.refused('role', 'is required');
    default:
      throw members.refused('role', 'must be system, developer, user, assistant or tool');
  }
}

/** Returns a content that consists of texts: a string, or its text parts joined. */
function textsOf(members: Members): string | undefined {
  const content = members.any('content');
  if (content === undefined || typeof content === 'string') return content;
  if (!Array.isArray(content)) throw members.refused('content', 'must be a string or an array');
  return content
    .map((value: unknown, index) => {
      const part = Members.of(value, members.at(`content.${index}`));
      const type = part.any('type');
      if (type === 'refusal') return part.required('refusal', part.text('refusal'));
      if (type !== 'text') throw part.refused('type', 'must be text');
      return part.required('text', part.text('text'));
    })
    .join('');
}

function userContentOf(members: Members): UserMessage['content'] {
  const content = members.required('content', members.any('content'));
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw members.refused('content', 'must be a string or an array');
  return content.map((value: unknown, index): UserParts[number] => {
    const part = Members.of(value, members.at(`content.${index}`));
    const type = part.any('type');
    if (type === 'text') return { type, text: part.required('text', part.text('text')) };
    if (type !== 'image_url') throw part.refused('type', 'must be text or image_url');
    const image = part.required('image_url', part.inner('image_url'));
    const detail = image.oneOf('detail', ['auto', 'low', 'high']);
    return { type: 'image', url: image.required('url', image.text('url')), ...(detail && { detail }) };
  });
}

function answerOf(members: Members): AnswerParts {
  const reasoning = members.text('reasoning_content') ?? members.text('reasoning');
  const text = textsOf(members);
  const calls = (members.array('tool_calls') ?? []).map((value, index): AnswerParts[number] => {
    const call = Members.of(value, members.at(`tool_calls.${index}`));
    const called = call.required('function', call.inner('function'));
    const signature = call.inner('extra_content')?.inner('google')?.text('thought_signature');
    return {
      type: 'tool_call',
      id: call.required('id', call.text('id')),
      name: called.required('name', called.text('name')),
      // Some clients send no arguments for a tool without parameters.
      json: called.text('arguments') || '{}',
      ...(signature && { signature }),
    };
  });
  if (members.any('function_call') !== undefined) {
    throw members.refused('function_call', 'is not supported: send tool_calls');
  }
  return [
    ...(reasoning ? [{ type: 'reasoning' as const, text: reasoning }] : []),
    ...(text ? [{ type: 'text' as const, text }] : []),
    ...calls,
  ];
}

function addResult(converted: Message[], members: Members): void {
  const toolCallId = members.required('tool_call_id', members.text('tool_call_id'));
  const content = textsOf(members);
  if (content === undefined) throw refused(members.at('content'), 'is required');
  const result: ToolResult = { toolCallId, content };
  const last = converted.at(-1);
  if (last?.role === 'tool') converted[converted.length - 1] = { role: 'tool', content: [...last.content, result] };
  else converted.push({ role: 'tool', content: [result] });
}
