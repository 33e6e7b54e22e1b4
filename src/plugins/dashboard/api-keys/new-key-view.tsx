import type { CreatedApiKey } from '../../../plugin-api/core/accounts.js';
import { curlLine, javascriptCode, pythonCode } from '../../../plugin-api/core/common.js';
import { LocalTime } from '../format/times.js';
import { Copyable } from '../parts/blocks.js';
import { API_KEYS_PATH } from '../paths.js';

export interface NewKey {
  readonly created: CreatedApiKey;
  /** The origin of the service, for the example command. */
  readonly origin: string;
  readonly model: string | undefined;
  /** The programs with SDKs. They contain the key. */
  readonly sdkSnippets: readonly SdkSnippet[];
  readonly replaced: ReplacedKey | undefined;
}

/** The old key, after a rotation. */
export interface ReplacedKey {
  readonly prefix: string;
  readonly endsAt: Date;
}

/** Shows a key that was created just now. The full key is shown only once. */
export function NewKeyView({ created, origin, model, sdkSnippets, replaced }: NewKey) {
  const { name, key } = created;
  const programs: readonly Program[] = model === undefined ? [] : [...programsOf(origin, key, model), ...sdkSnippets];
  return (
    <section class="new-key" data-shown-once={API_KEYS_PATH} role="status">
      <h2>Your new key “{name}”</h2>
      <p>
        <strong>Copy the key now: it is shown only once.</strong> Store it in your secret manager.
      </p>
      <Copyable what="key" text={key} id="new-key" wraps />
      {replaced === undefined ? null : (
        <p>
          The old key <code>{replaced.prefix}…</code> expires on <LocalTime at={replaced.endsAt} />.
        </p>
      )}
      {model === undefined ? null : (
        <>
          <p>Try it in a terminal:</p>
          <Copyable what="command" text={curlLine({ origin, key, request: greeting(model) })} id="try-it" />
          {programs.map(({ id, title, what = title, code }) => (
            <details key={id}>
              <summary>{title}</summary>
              <Copyable what={what} text={code} id={id} />
            </details>
          ))}
        </>
      )}
    </section>
  );
}

type Program = Pick<SdkSnippet, 'id' | 'title' | 'code'> & { readonly what?: string };

function programsOf(origin: string, key: string, model: string): readonly Program[] {
  const request = greeting(model, 2);
  const javascript = { title: 'JavaScript (Node)', what: 'JavaScript', code: javascriptCode({ origin, key, request }) };
  return [
    { id: 'try-javascript', ...javascript },
    { id: 'try-python', title: 'Python', code: pythonCode({ origin, key, request }) },
  ];
}

const greeting = (model: string, indent?: number): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] }, null, indent);

/** A program that calls the service with an SDK of another API. */
interface SdkSnippet {
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
