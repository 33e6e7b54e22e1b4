import type { AssistantMessage, ImageContent, Message, TextContent, ToolMessage } from '../../contract/conversation.js';
import { isPlain, joinedTexts } from '../shared/plain-messages.js';

/**
 * Returns the messages in the form of OpenAI. A content of texts only is one string, because many servers with this interface take
 * no list. Plain messages stay as they are.
 *
 * @param reasoningMember the member in which the model has sent reasoning without a signature. `undefined`: it takes none back.
 */
export function openAiMessages(messages: readonly Message[], reasoningMember: string | undefined): readonly object[] {
  if (messages.every(isPlain)) return messages;
  return messages.flatMap((message) => {
    if (isPlain(message)) return [message];
    switch (message.role) {
      case 'system':
        return [{ role: 'system', content: joinedTexts(message.content) }];
      case 'user':
        return [{ role: 'user', content: userContent(message.content) }];
      case 'assistant':
        return assistantMessages(message, reasoningMember);
      case 'tool':
        return toolMessages(message);
    }
  });
}

function userContent(content: string | readonly (TextContent | ImageContent)[]): string | readonly object[] {
  if (typeof content === 'string') return content;
  return content.some(({ type }) => type === 'image') ? content.map(userPart) : joinedTexts(content);
}

function userPart(part: TextContent | ImageContent): object {
  if (part.type === 'text') return { type: 'text', text: part.text };
  return { type: 'image_url', image_url: { url: part.url, detail: part.detail } };
}

/** Returns no message if nothing is left, for example of reasoning of another provider. */
function assistantMessages({ content }: AssistantMessage, reasoningMember: string | undefined): readonly object[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }];
  const text = joinedTexts(content);
  const calls = content.flatMap((part) => (part.type === 'tool_call' ? [part] : []));
  if (text === '' && calls.length === 0) return [];
  const reasoning: Record<string, string> = {};
  for (const part of content) {
    if (part.type !== 'reasoning' || part.text === '') continue;
    const member = part.signature ?? reasoningMember;
    if (member !== undefined) reasoning[member] = (reasoning[member] ?? '') + part.text;
  }
  const toolCalls = calls.map(({ id, name, json, signature }) => ({
    id,
    type: 'function',
    function: { name, arguments: json },
    // Gemini's interface of this form requires its signatures back.
    ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
  }));
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...reasoning,
      tool_calls: toolCalls.length === 0 ? undefined : toolCalls,
    },
  ];
}

/** Results of tools hold only texts in this interface, so the images follow in a message of the user. */
function toolMessages({ content: results }: ToolMessage): readonly object[] {
  const images: object[] = [];
  const messages: object[] = results.map(({ toolCallId, content }) => {
    if (typeof content === 'string') return { role: 'tool', tool_call_id: toolCallId, content };
    const ofResult = content.filter(({ type }) => type === 'image');
    if (ofResult.length > 0) {
      images.push({ type: 'text', text: `Images of the result of ${toolCallId}:` }, ...ofResult.map(userPart));
    }
    return { role: 'tool', tool_call_id: toolCallId, content: joinedTexts(content) };
  });
  return images.length === 0 ? messages : [...messages, { role: 'user', content: images }];
}
