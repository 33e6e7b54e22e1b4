import type { ChatCall } from '../../contract/chat-call.js';
import { plainMessages } from '../shared/plain-messages.js';
import { describedContents } from './described-contents.js';
import { schemaValue } from './schema-value.js';
import { replyTo } from './small-talk.js';
import { wordsOf } from './words.js';

/** Returns the words of the answer's text, in the requested format. Each word is created when the caller reads it. */
export function replyWords({ messages, options, responseFormat }: ChatCall): Iterable<string> {
  if (responseFormat?.type === 'json_schema') return wordsOf(JSON.stringify(schemaValue(responseFormat.schema)));
  const described = describedContents(messages);
  const words = described === undefined ? replyTo(plainMessages(messages), options.temperature) : wordsOf(described);
  return responseFormat?.type === 'json' ? wordsOf(JSON.stringify({ answer: [...words].join('') })) : words;
}
