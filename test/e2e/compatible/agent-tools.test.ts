import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callParts, COMPLETE, say, ScriptedModel } from './scripted-model.js';

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };

interface Item {
  readonly type: string;
  readonly [member: string]: unknown;
}

describe('the tools of agents', () => {
  let model: ScriptedModel;

  beforeAll(async () => {
    model = await ScriptedModel.start();
  });
  afterAll(() => model.stop());

  const send = (path: string, body: object): Promise<Response> =>
    fetch(`${model.baseUrl}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${model.key}` },
      body: JSON.stringify({ model: 'acme/fast', ...body }),
    });

  describe('of Codex', () => {
    const TOOLS = [
      { type: 'function', name: 'shell', parameters: PARAMETERS },
      {
        ...{ type: 'namespace', name: 'crm', description: 'Customers.' },
        tools: [
          { type: 'function', name: 'find', parameters: PARAMETERS },
          { type: 'custom', name: 'query', description: 'SQL.' },
        ],
      },
      { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
      { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: PARAMETERS },
      { type: 'web_search', external_web_access: true },
      { type: 'image_generation' },
    ];
    const respond = async (body: object): Promise<{ readonly output: Item[]; readonly response: Response }> => {
      const response = await send('responses', { input: 'Hello!', tools: TOOLS, ...body });
      expect(response.status).toBe(200);
      const { output } = (await response.json()) as { readonly output: Item[] };
      return { output, response };
    };
    const names = () => model.lastCall.tools?.map(({ name }) => name);

    it('are functions for the model, without those that a service would run', async () => {
      model.answers(say('Hello'), COMPLETE);
      const { response } = await respond({});
      expect(names()).toEqual(['shell', 'crm__find', 'crm__query', 'patch', 'tool_search']);
      expect(model.lastCall.tools?.map(({ description }) => description)).toEqual([
        undefined,
        'Customers.',
        'SQL.',
        expect.stringContaining('lark grammar:\nstart: "x"'),
        'Finds tools.',
      ]);
      expect(model.lastCall.tools?.[3]?.parameters).toMatchObject({ required: ['input'] });
      const ignored = response.headers.get('x-ignored-parameters');
      expect(ignored).toBe('tools.web_search, tools.image_generation');
    });

    it('come back as what they were', async () => {
      model.answers(
        ...callParts('call_1', 'crm__find', '{"city":"Rome"}'),
        ...callParts('call_2', 'patch', '{"input":"a\\nb"}'),
        ...callParts('call_3', 'crm__query', '{"input":""}'),
        ...callParts('call_4', 'tool_search', '{"query":"mail","id":2512292042121000001}'),
        ...callParts('call_5', 'shell', '{}'),
        COMPLETE,
      );
      const { output } = await respond({});
      expect(output).toMatchObject([
        { type: 'function_call', call_id: 'call_1', namespace: 'crm', name: 'find', arguments: '{"city":"Rome"}' },
        { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: 'a\nb', status: 'completed' },
        { type: 'custom_tool_call', call_id: 'call_3', namespace: 'crm', name: 'query', input: '' },
        { type: 'tool_search_call', call_id: 'call_4', execution: 'client', arguments: { query: 'mail' } },
        { type: 'function_call', call_id: 'call_5', name: 'shell', arguments: '{}' },
      ]);
      expect(output[4]).not.toHaveProperty('namespace');
      const whole = await (await send('responses', { input: 'Hello!', tools: TOOLS })).text();
      expect(whole).toContain('"arguments":{"query":"mail","id":2512292042121000001}');
      const streamed = await (await send('responses', { input: 'Hello!', tools: TOOLS, stream: true })).text();
      expect(streamed).toContain('"type":"response.custom_tool_call_input.done"');
      expect(streamed).toContain('"arguments":{"query":"mail","id":2512292042121000001}');
    });

    it('are known in the next turn, with their outputs and with the tools that were found', async () => {
      model.answers(say('Hello'), COMPLETE);
      await respond({
        input: [
          { type: 'additional_tools', role: 'developer', tools: [{ type: 'custom', name: 'more' }, TOOLS[0]] },
          { type: 'message', role: 'user', content: 'Hello!' },
          { type: 'web_search_call', id: 'ws_1', status: 'completed' },
          { type: 'function_call', call_id: 'call_1', namespace: 'crm', name: 'find', arguments: '{"city":"Rome"}' },
          { type: 'custom_tool_call', call_id: 'call_2', name: 'patch', input: 'a"b' },
          { type: 'tool_search_call', call_id: 'call_3', execution: 'client', arguments: { query: 'mail' } },
          { type: 'function_call_output', call_id: 'call_1', output: 'found' },
          { type: 'custom_tool_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: 'patched' }] },
          {
            ...{ type: 'tool_search_output', call_id: 'call_3', execution: 'client', status: 'completed' },
            tools: [
              {
                ...{ type: 'namespace', name: 'mail', description: 'Mail.' },
                tools: [{ type: 'function', name: 'send', defer_loading: true, parameters: PARAMETERS }],
              },
            ],
          },
        ],
      });
      expect(names()).toEqual(['crm__find', 'crm__query', 'patch', 'tool_search', 'more', 'shell', 'mail__send']);
      expect(model.lastCall.messages).toEqual([
        { role: 'user', content: 'Hello!' },
        {
          role: 'assistant',
          content: [
            { type: 'tool_call', id: 'call_1', name: 'crm__find', json: '{"city":"Rome"}' },
            { type: 'tool_call', id: 'call_2', name: 'patch', json: '{"input":"a\\"b"}' },
            { type: 'tool_call', id: 'call_3', name: 'tool_search', json: '{"query":"mail"}' },
          ],
        },
        {
          role: 'tool',
          content: [
            { toolCallId: 'call_1', content: 'found' },
            { toolCallId: 'call_2', content: 'patched' },
            { toolCallId: 'call_3', content: 'These tools are available now: mail__send' },
          ],
        },
      ]);
    });

    it('have the effort of the last update, and no record of what OpenAI has run', async () => {
      model.answers(say('Hello'), COMPLETE);
      const update = (effort: string) => ({ type: 'configuration_update', reasoning: { effort } });
      const { response } = await respond({
        reasoning: { effort: 'low' },
        input: [
          { role: 'user', content: 'Hello!' },
          { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'aGk=' },
          { type: 'mcp_call', id: 'mcp_1', name: 'find', server_label: 'crm', arguments: '{}', output: 'found' },
          ...[update('medium'), update('high')],
        ],
      });
      expect(model.lastCall.reasoning).toEqual({ effort: 'high' });
      expect(model.lastCall.messages).toEqual([{ role: 'user', content: 'Hello!' }]);
      const ignored = response.headers.get('x-ignored-parameters');
      expect(ignored).toMatch(/input\.image_generation_call.*input\.mcp_call/);
    });

    it('have the arguments of a search as they arrived', async () => {
      model.answers(say('Hello'), COMPLETE);
      const item = '{"type":"tool_search_call","call_id":"call_1","arguments":{"id": 2512292042121000001}}';
      const output = '{"type":"tool_search_output","call_id":"call_1","tools":[]}';
      await fetch(`${model.baseUrl}/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${model.key}` },
        body: `{"model":"acme/fast","input":[{"role":"user","content":"Hello!"},${item},${output}]}`,
      });
      expect(model.lastCall.messages[1]?.content).toMatchObject([{ json: '{"id": 2512292042121000001}' }]);
    });

    it.each([
      [{ type: 'custom', name: 'patch' }, { tool: 'patch' }],
      [{ type: 'function', name: 'find', namespace: 'crm' }, { tool: 'crm__find' }],
      [
        { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }, { type: 'custom', name: 'patch' }] },
        'required',
      ],
    ])('can be demanded: %j', async (tool_choice, expected) => {
      model.answers(say('Hello'), COMPLETE);
      await respond({ tool_choice });
      expect(model.lastCall.toolChoice).toEqual(expected);
    });

    it.each([
      [{ tool_choice: { type: 'web_search' } }, 'tool_choice.type'],
      [{ tool_choice: 'required', tools: [{ type: 'web_search' }] }, 'tool_choice'],
      [{ tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] } }, 'tool_choice.tools'],
      [{ tools: [{ type: 'local_shell' }] }, 'tools.0.type'],
    ])('are refused if the service would have to run them: %j', async (body, param) => {
      const response = await send('responses', { input: 'Hello!', tools: TOOLS, ...body });
      expect([response.status, await response.json()]).toMatchObject([400, { error: { param } }]);
    });
  });

  describe('of chat completions', () => {
    const TOOLS = [
      { type: 'function', function: { name: 'shell', parameters: PARAMETERS } },
      {
        type: 'custom',
        custom: {
          ...{ name: 'patch', description: 'Patches.' },
          format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } },
        },
      },
      { type: 'web_search' },
    ];
    const call = { id: 'call_1', type: 'custom', custom: { name: 'patch', input: 'a"b' } };
    const complete = (body: object) =>
      send('chat/completions', { messages: [{ role: 'user', content: 'Hello!' }], tools: TOOLS, ...body });

    it('are functions for the model, without those that a service would run', async () => {
      model.answers(say('Hello'), COMPLETE);
      const messages = [
        { role: 'user', content: 'Hello!' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'patched' },
      ];
      const response = await complete({ messages, tool_choice: { type: 'custom', custom: { name: 'patch' } } });
      expect(response.headers.get('x-ignored-parameters')).toBe('tools.web_search');
      const { tools, toolChoice, messages: sent } = model.lastCall;
      expect(tools?.map(({ name }) => name)).toEqual(['shell', 'patch']);
      expect(tools?.[1]?.description).toBe('Patches.\n\nThe member input must match this lark grammar:\nstart: "x"');
      expect(toolChoice).toEqual({ tool: 'patch' });
      expect(sent[1]?.content).toMatchObject([{ type: 'tool_call', name: 'patch', json: '{"input":"a\\"b"}' }]);
    });

    it('are only those that the choice allows', async () => {
      const allowed = (...tools: object[]) => ({
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools } },
      });
      model.answers(say('Hello'), COMPLETE);
      const search = { type: 'web_search' };
      expect((await complete(allowed(search, { type: 'custom', custom: { name: 'patch' } }))).status).toBe(200);
      expect(model.lastCall.tools?.map(({ name }) => name)).toEqual(['patch']);
      expect(model.lastCall.toolChoice).toBe('required');
      for (const tools of [[search], [{ type: 'function', function: { name: 'other' } }], []]) {
        expect((await complete(allowed(...tools))).status).toBe(400);
      }
    });

    it('come back as what they were', async () => {
      const answer = [
        ...callParts('call_1', 'patch', '{"input":"a\\"b"}'),
        ...callParts('call_2', 'shell', '{}'),
        COMPLETE,
      ];
      model.answers(...answer);
      const whole = (await (await complete({})).json()) as { choices: [{ message: { tool_calls: object[] } }] };
      const shell = { id: 'call_2', type: 'function', function: { name: 'shell', arguments: '{}' } };
      expect(whole.choices[0].message.tool_calls).toEqual([call, shell]);
      model.answers(...answer);
      const streamed = await (await complete({ stream: true })).text();
      const deltas = [...streamed.matchAll(/"tool_calls":(\[.*?\])\},"finish/g)].map(
        ([, json = '']) => JSON.parse(json) as object[],
      );
      expect(deltas.flat().slice(0, 2)).toEqual([
        { index: 0, ...call, custom: { name: 'patch', input: '' } },
        { index: 0, custom: { input: 'a"b' } },
      ]);
    });
  });

  describe('of Claude Code', () => {
    const tool = (name: string, members: object = {}) => ({ name, input_schema: PARAMETERS, ...members });
    const TOOLS = [tool('ToolSearch'), tool('Mail', { defer_loading: true }), tool('Post', { defer_loading: true })];
    const message = (body: object) => send('messages', { max_tokens: 100, tools: TOOLS, messages: HELLO, ...body });
    const HELLO = [{ role: 'user', content: 'Hello!' }];
    const FOUND = [
      ...HELLO,
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'ToolSearch', input: {} }] },
      {
        role: 'user',
        content: [
          {
            ...{ type: 'tool_result', tool_use_id: 'call_1' },
            content: [{ type: 'tool_reference', tool_name: 'Mail' }],
          },
        ],
      },
    ];
    const names = () => model.lastCall.tools?.map(({ name }) => name);

    it.each([
      [{}, ['ToolSearch']],
      [{ messages: FOUND }, ['ToolSearch', 'Mail']],
      [{ tool_choice: { type: 'tool', name: 'Post' } }, ['ToolSearch', 'Post']],
      [
        { tools: [...TOOLS, { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' }] },
        ['ToolSearch', 'Mail', 'Post'],
      ],
    ])('are hidden until a result refers to them: %j', async (body, expected) => {
      model.answers(say('Hello'), COMPLETE);
      const response = await message(body);
      expect([response.status, names()]).toEqual([200, expected]);
    });

    it('are named in the result', async () => {
      model.answers(say('Hello'), COMPLETE);
      await message({ messages: FOUND });
      const content = [{ type: 'text', text: 'The tool Mail is available now.' }];
      expect(model.lastCall.messages.at(-1)).toEqual({ role: 'tool', content: [{ toolCallId: 'call_1', content }] });
    });

    it('come and go with system messages', async () => {
      const change = (type: string, tool: object) => ({ role: 'system', content: [{ type, tool }] });
      const reference = (name: string) => ({ type: 'tool_reference', name });
      const definition = (name: string, members?: object) => ({
        type: 'tool_definition',
        definition: tool(name, members),
      });
      for (const [changes, expected] of [
        [[change('tool_addition', reference('Mail'))], ['ToolSearch', 'Mail']],
        [[change('tool_addition', definition('Find'))], ['ToolSearch', 'Find']],
        [[change('tool_removal', reference('ToolSearch')), change('tool_addition', reference('Post'))], ['Post']],
        [
          [
            change('tool_addition', definition('Find')),
            change('tool_removal', reference('Find')),
            change('tool_addition', definition('Find', { description: 'Again.' })),
          ],
          ['ToolSearch', 'Find'],
        ],
      ] as const) {
        model.answers(say('Hello'), COMPLETE);
        const response = await message({ messages: [...HELLO, ...changes] });
        expect([response.status, names()]).toEqual([200, expected]);
        expect(model.lastCall.messages).toEqual([{ role: 'user', content: 'Hello!' }]);
      }
      expect(model.lastCall.tools?.[1]?.description).toBe('Again.');
      const ofServer = { type: 'mcp_tool_reference', server_name: 'crm', name: 'find' };
      expect((await message({ messages: [...HELLO, change('tool_addition', ofServer)] })).status).toBe(400);
    });

    it('have documents of texts and search results as texts', async () => {
      model.answers(say('Hello'), COMPLETE);
      const plain = {
        type: 'document',
        title: 'Notes',
        source: { type: 'text', media_type: 'text/plain', data: 'One' },
      };
      const parts = [{ type: 'text', text: 'Two' }];
      const found = { type: 'search_result', title: 'Map', source: 'https://a.test/map', content: parts };
      const response = await message({
        messages: [
          {
            role: 'user',
            content: [
              { ...plain, cache_control: { type: 'ephemeral' } },
              { type: 'document', source: { type: 'content', content: parts } },
              { type: 'document', source: { type: 'content', content: 'Three' } },
            ],
          },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'ToolSearch', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [plain, found] }] },
        ],
      });
      expect([response.status, response.headers.get('x-ignored-parameters')]).toEqual([200, null]);
      const text = (content: string, members: object = {}) => ({ type: 'text', text: content, ...members });
      expect(model.lastCall.messages.map(({ content }) => content)).toEqual([
        [text('Notes\nOne', { cache: {} }), text('Two'), text('Three')],
        [{ type: 'tool_call', id: 'call_1', name: 'ToolSearch', json: '{}' }],
        [{ toolCallId: 'call_1', content: [text('Notes\nOne'), text('Map\nhttps://a.test/map\n'), text('Two')] }],
      ]);
      const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'aGk=' } };
      expect((await message({ messages: [{ role: 'user', content: [pdf] }] })).status).toBe(400);
    });

    it('have no record of what Anthropic has run, and a summary in place of what it has compacted', async () => {
      model.answers(say('Hello'), COMPLETE);
      const response = await message({
        messages: [
          ...HELLO,
          {
            role: 'assistant',
            content: [
              { type: 'compaction', content: 'They have met.' },
              { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'news' } },
              { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
              { type: 'text', text: 'No news.' },
            ],
          },
          ...HELLO,
        ],
      });
      expect([response.status, response.headers.get('x-ignored-parameters')]).toEqual([
        200,
        'messages.content.server_tool_use, messages.content.web_search_tool_result',
      ]);
      expect(model.lastCall.messages[1]?.content).toEqual([
        { type: 'text', text: 'They have met.' },
        { type: 'text', text: 'No news.' },
      ]);
    });

    it('that Anthropic would run are left out, and named', async () => {
      model.answers(say('Hello'), COMPLETE);
      const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 };
      const response = await message({ tools: [tool('Read'), search] });
      expect([response.status, names()]).toEqual([200, ['Read']]);
      expect(response.headers.get('x-ignored-parameters')).toBe('tools.web_search_20250305');
      for (const body of [
        { tool_choice: { type: 'tool', name: 'web_search' } },
        { tool_choice: { type: 'any' }, tools: [] },
      ]) {
        expect((await message({ tools: [search], ...body })).status).toBe(400);
      }
    });

    it.each(['summarized', 'updates', 'full', null, 1])('may show their thinking as %s', async (display) => {
      model.answers({ type: 'reasoning', text: 'Hm.' }, say('Hello'), COMPLETE);
      const response = await message({ thinking: { type: 'adaptive', display } });
      expect(await response.json()).toMatchObject({
        content: [{ type: 'thinking', thinking: 'Hm.' }, { type: 'text' }],
      });
    });

    it('have an effort for one turn, and system messages for one turn', async () => {
      const effort = { role: 'system', output_config: { effort: 'low' } };
      const note = { role: 'system', content: 'Be quick.', clear_at: 'next_user_message' };
      for (const [messages, expected, roles] of [
        [[...HELLO, note, effort], 'low', ['user', 'system']],
        [
          [...HELLO, note, effort, { role: 'assistant', content: 'Hi.' }, ...HELLO],
          'high',
          ['user', 'assistant', 'user'],
        ],
      ] as const) {
        model.answers(say('Hello'), COMPLETE);
        const response = await message({ messages, output_config: { effort: 'high' } });
        expect([response.status, model.lastCall.reasoning?.effort]).toEqual([200, expected]);
        expect(model.lastCall.messages.map(({ role }) => role)).toEqual(roles);
      }
    });
  });

  describe('with many tokens', () => {
    const ask = async (body: object): Promise<unknown> => {
      const response = await send('messages', { messages: [{ role: 'user', content: 'Hello!' }], ...body });
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([400, 'false']);
      return ((await response.json()) as { readonly error: { readonly message: string } }).error.message;
    };

    it('are told the limit of the answer in the sentence that clients read', async () => {
      expect(await ask({ max_tokens: 9_000, model: 'gpt-9' })).toBe(
        'max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for gpt-9',
      );
    });

    it('are told the length of the prompt', async () => {
      const messages = [{ role: 'user', content: 'word '.repeat(20_000) }];
      expect(await ask({ max_tokens: 100, messages })).toMatch(/^prompt is too long: \d+ tokens > 8192 maximum$/);
      const shorter = [{ role: 'user', content: 'word '.repeat(5_000) }];
      expect(await ask({ max_tokens: 8_000, messages: shorter })).toMatch(
        /^input length and `max_tokens` exceed context limit: \d+ \+ 8000 > 8192/,
      );
    });
  });

  describe('are as large as those of the origin', () => {
    it('on messages', async () => {
      model.answers(say('Hello'), COMPLETE);
      const tools = Array.from({ length: 300 }, (_, index) => ({
        name: `${'n'.repeat(124)}_${String(index).padStart(3, '0')}`,
        description: index === 0 ? 'd'.repeat(64 * 1024) : 'A tool.',
        input_schema: { type: 'object' },
      }));
      const response = await send('messages', { max_tokens: 1, tools, messages: [{ role: 'user', content: 'a' }] });
      // The model is small: the request is valid, and only too long.
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringMatching(/^prompt is too long/) as string },
      });
    });

    it.each(['chat/completions', 'messages'])('in %s, with many messages and stop sequences', async (path) => {
      model.answers(say('Hello'), COMPLETE);
      const stop = Array.from({ length: 20 }, (_, index) => `stop-${index}`);
      const messages = Array.from({ length: 10_000 }, () => ({ role: 'user', content: '.' }));
      const response = await send(path, {
        // On Messages, a prompt above the context length of the model is refused without a call.
        ...{ max_tokens: 1, messages: path === 'messages' ? messages.slice(0, 1_500) : messages },
        ...(path === 'messages' ? { stop_sequences: stop } : { stop }),
      });
      expect(response.status).toBe(200);
      expect(model.lastCall.options.stop).toEqual(stop);
    });
  });
});
