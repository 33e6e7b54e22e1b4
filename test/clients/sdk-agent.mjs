// Runs one agent of an SDK: node agent.mjs <sdk> <base URL> <key> <model> [<image>]
// Prints the answer, and ends with 0 only when the SDK says that the answer is complete. The agent has one tool, `look`.
import { readFile } from 'node:fs/promises';

const [sdk = '', baseURL = '', apiKey = '', model = '', image] = process.argv.slice(2);
const QUESTION = 'Which word is in the notes?';
const DESCRIPTION = 'Reads a file of the working directory.';
const imageData = image === undefined ? undefined : (await readFile(image)).toString('base64');
const imageUrl = `data:image/png;base64,${imageData ?? ''}`;

/** @param {{ path: string }} input */
const look = async ({ path }) => (path === '.' ? 'notes.txt' : readFile(path, 'utf8'));
const SCHEMA = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
  additionalProperties: false,
};

const ofAiSdk = (createModel) => async () => {
  const { streamText, tool, jsonSchema, isStepCount, stepCountIs } = await import('ai');
  const content = [{ type: 'text', text: QUESTION }];
  if (imageData !== undefined) content.push({ type: 'image', image: imageData, mediaType: 'image/png' });
  let failure;
  const result = streamText({
    model: await createModel(),
    messages: [{ role: 'user', content }],
    tools: { look: tool({ description: DESCRIPTION, inputSchema: jsonSchema(SCHEMA), execute: look }) },
    stopWhen: (isStepCount ?? stepCountIs)(5),
    providerOptions: { openai: { store: false } },
    onError: ({ error }) => void (failure = error),
  });
  const text = await result.text.catch((error) => void (failure ??= error));
  if (failure !== undefined) throw failure;
  return text;
};

const ofOpenAiAgents = (api) => async () => {
  const { Agent, run, tool, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled } = await import('@openai/agents');
  const { default: OpenAI } = await import('openai');
  setTracingDisabled(true);
  setDefaultOpenAIClient(new OpenAI({ baseURL, apiKey }));
  setOpenAIAPI(api);
  const agent = new Agent({
    name: 'Reader',
    instructions: 'Answer from the files.',
    model,
    tools: [tool({ name: 'look', description: DESCRIPTION, parameters: SCHEMA, strict: true, execute: look })],
  });
  const content = [{ type: 'input_text', text: QUESTION }];
  if (imageData !== undefined) content.push({ type: 'input_image', image: imageUrl });
  const result = await run(agent, [{ role: 'user', content }], { stream: true });
  for await (const event of result) void event;
  await result.completed;
  if (result.error) throw result.error;
  return result.finalOutput;
};

/** The agents by name. */
const AGENTS = {
  async openai() {
    const { default: OpenAI } = await import('openai');
    const content = [{ type: 'text', text: QUESTION }];
    if (imageData !== undefined) content.push({ type: 'image_url', image_url: { url: imageUrl } });
    const runner = new OpenAI({ baseURL, apiKey }).chat.completions.runTools({
      ...{ model, stream: true, messages: [{ role: 'user', content }] },
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: DESCRIPTION, parameters: SCHEMA, parse: JSON.parse, function: look },
        },
      ],
    });
    return runner.finalContent();
  },
  async 'openai responses'() {
    const { default: OpenAI } = await import('openai');
    const client = new OpenAI({ baseURL, apiKey });
    const content = [{ type: 'input_text', text: QUESTION }];
    if (imageData !== undefined) content.push({ type: 'input_image', image_url: imageUrl, detail: 'auto' });
    const input = [{ role: 'user', content }];
    const tools = [{ type: 'function', name: 'look', description: DESCRIPTION, parameters: SCHEMA, strict: true }];
    for (;;) {
      const response = await client.responses.stream({ model, input, tools, store: false }).finalResponse();
      if (response.status !== 'completed') throw new Error(`The response is ${response.status}.`);
      const calls = response.output.filter(({ type }) => type === 'function_call');
      if (calls.length === 0) return response.output_text;
      input.push(...response.output);
      for (const { call_id, arguments: json } of calls) {
        input.push({ type: 'function_call_output', call_id, output: await look(JSON.parse(json)) });
      }
    }
  },
  'openai agents, chat completions': ofOpenAiAgents('chat_completions'),
  'openai agents, responses': ofOpenAiAgents('responses'),
  async anthropic() {
    const { default: Anthropic } = await import('@anthropic-ai/sdk');
    const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ''), apiKey });
    const content = [{ type: 'text', text: QUESTION }];
    if (imageData !== undefined) {
      content.push({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: imageData } });
    }
    const messages = [{ role: 'user', content }];
    const tools = [{ name: 'look', description: DESCRIPTION, input_schema: SCHEMA }];
    for (;;) {
      const message = await client.messages.stream({ model, messages, tools, max_tokens: 1_000 }).finalMessage();
      const results = [];
      for (const { type, id, input } of message.content) {
        if (type === 'tool_use') results.push({ type: 'tool_result', tool_use_id: id, content: await look(input) });
      }
      if (results.length === 0) return message.content.map(({ text = '' }) => text).join('');
      messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results });
    }
  },
  'AI SDK, chat completions': ofAiSdk(async () => {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    return createOpenAICompatible({ name: 'chat', baseURL, apiKey, includeUsage: true })(model);
  }),
  'AI SDK, responses': ofAiSdk(async () => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ baseURL, apiKey })(model);
  }),
  'AI SDK, messages': ofAiSdk(async () => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ baseURL, apiKey })(model);
  }),
  async langchain() {
    const { ChatOpenAI } = await import('@langchain/openai');
    const { HumanMessage, ToolMessage } = await import('@langchain/core/messages');
    const { concat } = await import('@langchain/core/utils/stream');
    const chat = new ChatOpenAI({ model, apiKey, useResponsesApi: false, configuration: { baseURL } });
    const bound = chat.bindTools([
      { type: 'function', function: { name: 'look', description: DESCRIPTION, parameters: SCHEMA } },
    ]);
    const content = [{ type: 'text', text: QUESTION }];
    if (imageData !== undefined) content.push({ type: 'image_url', image_url: { url: imageUrl } });
    const messages = [new HumanMessage({ content })];
    for (;;) {
      // `invoke` would fetch the tables of a tokenizer, to count tokens.
      let answer;
      for await (const chunk of await bound.stream(messages))
        answer = answer === undefined ? chunk : concat(answer, chunk);
      if ((answer.tool_calls ?? []).length === 0) return answer.text;
      messages.push(answer);
      for (const { id, args } of answer.tool_calls) {
        messages.push(new ToolMessage({ tool_call_id: id, content: await look(args) }));
      }
    }
  },
  async 'claude agent SDK'() {
    const { query } = await import('@anthropic-ai/claude-agent-sdk');
    const options = { model, allowedTools: ['Read', 'Bash'], maxTurns: 8 };
    for await (const message of query({ prompt: QUESTION, options })) {
      if (message.type !== 'result') continue;
      if (message.subtype !== 'success' || message.is_error) throw new Error(JSON.stringify(message));
      return message.result;
    }
    throw new Error('The agent has no result.');
  },
};

const run = AGENTS[sdk];
if (run === undefined) throw new Error(`There is no SDK "${sdk}".`);
process.stdout.write(`${await run()}\n`);
