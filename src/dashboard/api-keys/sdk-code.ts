/** A program that calls the service with an SDK of another API. */
export interface SdkSnippet {
  /** The id of the element on a page. */
  readonly id: string;
  readonly title: string;
  /** The name in `COMPATIBLE_APIS` of the interface that the SDK uses. */
  readonly api: 'chat-completions' | 'messages';
  readonly code: string;
}

/** Returns short programs for Node, each with the packages that it needs in its first line. */
export function sdkSnippets(origin: string, key: string, model: string): readonly SdkSnippet[] {
  const [baseURL, withoutVersion, apiKey, id] = [`${origin}/api/v1`, `${origin}/api`, key, model].map((text) =>
    JSON.stringify(text),
  );
  return [
    {
      ...{ id: 'try-openai', title: 'OpenAI SDK', api: 'chat-completions' },
      code: `// npm install openai
import OpenAI from 'openai';

const openai = new OpenAI({ baseURL: ${baseURL}, apiKey: ${apiKey} });
const answer = await openai.chat.completions.create({
  model: ${id},
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.choices[0].message.content);
`,
    },
    {
      ...{ id: 'try-anthropic', title: 'Anthropic SDK', api: 'messages' },
      code: `// npm install @anthropic-ai/sdk
import Anthropic from '@anthropic-ai/sdk';

const anthropic = new Anthropic({ baseURL: ${withoutVersion}, apiKey: ${apiKey} });
const answer = await anthropic.messages.create({
  model: ${id},
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.content);
`,
    },
    {
      ...{ id: 'try-ai-sdk', title: 'AI SDK', api: 'chat-completions' },
      code: `// npm install ai @ai-sdk/openai-compatible
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';

const chat = createOpenAICompatible({ name: 'chat', baseURL: ${baseURL}, apiKey: ${apiKey}, includeUsage: true });
const answer = streamText({ model: chat(${id}), prompt: 'Hello!' });
for await (const text of answer.textStream) process.stdout.write(text);
`,
    },
  ];
}
