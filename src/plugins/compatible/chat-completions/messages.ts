import type { AssistantMessage, Message, ToolResult, UserMessage } from '../../../plugin-api/core/upstreams.js';
import { detailOf, partsOf, pathsOf, withoutEmpty, type Located, type MappedMessage } from '../shared/body-fields.js';
import { customArguments } from '../shared/custom-tools.js';
import { Members, refused } from '../shared/members.js';

type AnswerPart = Exclude<AssistantMessage['content'], string>[number];
type UserPart = Exclude<UserMessage['content'], string>[number];

/**
 * Converts the messages of a request. Neighbouring messages of tools become one message with several results.
 *
 * @param ignore names members of messages that have no effect.
 */
export function mappedMessages(messages: readonly unknown[], ignore: (member: string) => void): MappedMessage[] {
  const mapped: MappedMessage[] = [];
  for (const [index, value] of messages.entries()) {
    const members = Members.of(value, `messages.${index}`);
    const role = members.text('role');
    if (role === 'tool') addResult(mapped, members);
    else mapped.push(...messageOf(role, members));
    // A name tells participants with the same role apart.
    if (members.any('name') !== undefined) ignore('messages.name');
  }
  return withoutEmpty(mapped);
}

function messageOf(role: string | undefined, members: Members): MappedMessage[] {
  const { path } = members;
  switch (role) {
    case 'system':
    case 'developer':
      return [{ message: { role: 'system', content: textsOf(members) ?? '' }, path, parts: [] }];
    case 'user': {
      const content = userContentOf(members);
      if (typeof content === 'string') return [{ message: { role: 'user', content }, path, parts: [] }];
      return [{ message: { role: 'user', content: partsOf(content) }, path, parts: pathsOf(content) }];
    }
    case 'assistant': {
      const content = answerOf(members);
      // An empty answer tells the model nothing.
      if (content.length === 0) return [];
      return [{ message: { role: 'assistant', content: partsOf(content) }, path, parts: pathsOf(content) }];
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
      if (type === 'refusal') return part.requiredText('refusal');
      if (type !== 'text') throw part.refused('type', 'must be text');
      return part.requiredText('text');
    })
    .join('');
}

/** Returns a text, or the parts. Parts without any text are left out. */
function userContentOf(members: Members): string | readonly Located<UserPart>[] {
  const content = members.required('content', members.any('content'));
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw members.refused('content', 'must be a string or an array');
  return content.flatMap((value: unknown, index): Located<UserPart>[] => {
    const part = Members.of(value, members.at(`content.${index}`));
    const type = part.any('type');
    if (type === 'text') {
      const text = part.requiredText('text');
      return text === '' ? [] : [{ part: { type, text }, path: part.path }];
    }
    if (type !== 'image_url') throw part.refused('type', 'must be text or image_url');
    const image = part.required('image_url', part.inner('image_url'));
    return [{ part: { type: 'image', url: image.requiredText('url'), ...detailOf(image) }, path: part.path }];
  });
}

function answerOf(members: Members): readonly Located<AnswerPart>[] {
  const reasoning = members.text('reasoning_content') ?? members.text('reasoning');
  const text = textsOf(members);
  const calls = (members.objects('tool_calls') ?? []).map((call): Located<AnswerPart> => {
    const custom = call.any('type') === 'custom' ? call.inner('custom') : undefined;
    const called = custom ?? call.required('function', call.inner('function'));
    const signature = call.inner('extra_content')?.inner('google')?.text('thought_signature');
    const part: AnswerPart = {
      type: 'tool_call',
      id: call.requiredText('id'),
      name: called.requiredText('name'),
      // Some clients send no arguments for a tool without parameters.
      json: custom === undefined ? called.text('arguments') || '{}' : customArguments(custom.requiredText('input')),
      ...(signature && { signature }),
    };
    return { part, path: call.path };
  });
  if (members.any('function_call') !== undefined) {
    throw members.refused('function_call', 'is not supported: send tool_calls');
  }
  const path = members.at('content');
  return [
    ...(reasoning ? [{ part: { type: 'reasoning' as const, text: reasoning }, path }] : []),
    ...(text ? [{ part: { type: 'text' as const, text }, path }] : []),
    ...calls,
  ];
}

function addResult(mapped: MappedMessage[], members: Members): void {
  const toolCallId = members.requiredText('tool_call_id');
  const content = textsOf(members);
  if (content === undefined) throw refused(members.at('content'), 'is required');
  const result: ToolResult = { toolCallId, content };
  const last = mapped.at(-1);
  const { path } = members;
  if (last?.message.role === 'tool') {
    const message: Message = { role: 'tool', content: [...last.message.content, result] };
    mapped[mapped.length - 1] = { message, path: last.path, parts: [...last.parts, path] };
  } else {
    mapped.push({ message: { role: 'tool', content: [result] }, path, parts: [path] });
  }
}
