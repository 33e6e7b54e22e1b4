import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPLETE, say, ScriptedModel } from '../e2e/compatible/scripted-model.js';

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A valid body for each path, with every kind of member. */
const BODIES: Readonly<Record<string, object>> = {
  'chat/completions': {
    ...{ model: 'acme/fast', stream: false, stream_options: { include_usage: true }, stop: ['END'], seed: 1 },
    ...{ temperature: 1, top_p: 1, max_tokens: 10, max_completion_tokens: 10, reasoning_effort: 'low', n: 1 },
    ...{ logit_bias: {}, modalities: ['text'], functions: [], function_call: 'none', user: 'u', metadata: { a: 'b' } },
    tools: [{ type: 'function', function: { name: 'weather', parameters: PARAMETERS, strict: true } }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema: PARAMETERS } },
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello!' },
          { type: 'image_url', image_url: { url: IMAGE, detail: 'low' } },
        ],
      },
      {
        ...{ role: 'assistant', content: null, reasoning_content: 'Weather.' },
        tool_calls: [
          {
            ...{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
            extra_content: { google: { thought_signature: 'proof' } },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ],
  },
  responses: {
    ...{ model: 'acme/fast', stream: false, instructions: 'Be brief.', store: false, include: [], metadata: {} },
    ...{ temperature: 1, top_p: 1, max_output_tokens: 10, parallel_tool_calls: true, truncation: 'disabled' },
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'a', schema: PARAMETERS, strict: true } },
    tools: [{ type: 'function', name: 'weather', parameters: PARAMETERS }],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'weather' }] },
    input: [
      {
        ...{ type: 'message', role: 'user' },
        content: [
          { type: 'input_text', text: 'Hello!' },
          { type: 'input_image', image_url: IMAGE },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Weather.' }], encrypted_content: 'rs1.e30' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}' },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'sunny' }] },
    ],
  },
  messages: {
    ...{ model: 'acme/fast', max_tokens: 4_000, stream: false, temperature: 1, stop_sequences: ['END'] },
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '5m' } }],
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: PARAMETERS } },
    metadata: { user_id: 'u' },
    tools: [{ name: 'weather', input_schema: PARAMETERS, cache_control: { type: 'ephemeral' } }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello!' },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Weather.', signature: 'proof' },
          { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Rome' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' }] },
    ],
  },
};
const PATHS: readonly (readonly [path: string, body: object])[] = [
  ...Object.entries(BODIES),
  ['messages/count_tokens', BODIES['messages'] ?? {}],
];

type Place = readonly (string | number)[];

/** Every place in a value, the value itself last. */
function placesIn(value: unknown, place: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [place];
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => placesIn(item, [...place, index]))
    : Object.entries(value).flatMap(([name, item]) => placesIn(item, [...place, name]));
  return [...inner, place];
}

/** The JSON of the value, with another JSON text at the place. */
function jsonWith(value: unknown, place: Place, text: string): string {
  const mark = '\u0001place\u0001';
  const copy = structuredClone({ value }) as Record<string, unknown>;
  let holder = copy as Record<string | number, unknown>;
  const path = ['value', ...place];
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string | number, unknown>;
  holder[path.at(-1) ?? ''] = mark;
  return JSON.stringify(copy['value'] === mark ? mark : copy['value']).replace(JSON.stringify(mark), () => text);
}

/** JSON texts that programs do not write: a valid text is JSON, but its value is unusual. */
const HOSTILE = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.constantFrom(
    ...['null', 'true', '0', '-0', '1e999', '-1e999', '9007199254740993', '0.1', '1e-320', '""', '[]', '{}', '[null]'],
    ...[
      '{"__proto__":{"a":1}}',
      '{"constructor":{"prototype":{"a":1}}}',
      '{"toString":1,"type":"text"}',
      '"__proto__"',
    ],
    ...['"\\ud800"', '"\\udfff\\ud800"', '"\\u0000"', '"constructor"', '"toString"', '"hasOwnProperty"'],
    ...['{"type":"__proto__"}', '{"role":"constructor","content":"a"}', '[{"type":"text"}]', '[[[[[[]]]]]]'],
    ...['"rs1.bnVsbA"', '"rs1.W10"', '"data:image/png;base64,"', '"https://"', '"\\uD83D"'],
    '['.repeat(5_000) + ']'.repeat(5_000),
    '{"a":'.repeat(5_000) + '1' + '}'.repeat(5_000),
    `[${'0,'.repeat(60_000)}0]`,
    `{${Array.from({ length: 2_000 }, (_, index) => `"k${index}":${index}`).join()}}`,
    JSON.stringify('a'.repeat(100_000)),
  ),
);

describe('a hostile body of a compatible interface', () => {
  let model: ScriptedModel;

  beforeAll(async () => {
    model = await ScriptedModel.start({ requests_per_minute: 1_000_000 });
    model.answers(say('Hello'), COMPLETE);
  });
  afterAll(() => model.stop());

  const send = async (path: string, body: string) => {
    const response = await fetch(`${model.baseUrl}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': model.key },
      body,
    });
    const ignored = response.headers.get('x-ignored-parameters') ?? '';
    return { status: response.status, ignored, text: await response.text() };
  };

  it.each(PATHS)('is a request of its own to %s while nothing is replaced', async (path, body) => {
    const { status, text } = await send(path, JSON.stringify(body));
    expect([status, text]).toEqual([200, expect.any(String)]);
  });

  it.each(PATHS)('is answered or refused by %s, and never an error of the service', async (path, valid) => {
    const places = placesIn(valid);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), HOSTILE, async (place, text) => {
        const sent = jsonWith(valid, place, text);
        const answer = await send(path, sent);
        expect([200, 400, 404, 413, 429], `${answer.status} ${answer.text} for ${sent.slice(0, 2_000)}`).toContain(
          answer.status,
        );
        // A budget of its own limits the token counts.
        const body = JSON.parse(
          answer.text
            .replace(/^event: .*\n?/gm, '')
            .split('\n')[0]
            ?.replace(/^data: /, '') ?? '',
        ) as object;
        expect(body).toBeTypeOf('object');
      }),
      { numRuns: 150 },
    );
  });

  it.each(PATHS)('with members of any name is answered by %s, which names at most 20 of them', async (path, valid) => {
    const names = fc.array(fc.string({ unit: 'binary', minLength: 1 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(names, async (unknown) => {
        const members = unknown.map((name) => `${JSON.stringify(`${name}\u0000\r\nX-Evil: 1`)}:1`);
        const body = `${JSON.stringify(valid).slice(0, -1)}${members.map((member) => `,${member}`).join('')}}`;
        const { status, ignored } = await send(path, body);
        expect([200, 429]).toContain(status);
        expect(ignored.split(',').length).toBeLessThanOrEqual(20);
      }),
      { numRuns: 50 },
    );
  });

  it.each(PATHS)('with an id or a tool twice is answered or refused by %s', async (path, valid) => {
    const lists = placesIn(valid).filter((place) =>
      Array.isArray(place.reduce<unknown>((value, name) => (value as never)[name], valid)),
    );
    for (const place of lists) {
      const list = place.reduce<unknown>((value, name) => (value as never)[name], valid) as unknown[];
      for (const count of [2, 200]) {
        const text = JSON.stringify(Array.from({ length: count }, () => list).flat());
        const { status } = await send(path, jsonWith(valid, place, text));
        expect([200, 400, 429]).toContain(status);
      }
    }
  });
});
