import { describe, expect, it } from 'vitest';
import type { UpstreamConfig } from '../../../src/platform/config/config.js';
import { describeProtocol } from '../../../src/testing/protocols/describe-protocol.js';
import type { ExpectedAnswer } from '../../../src/testing/protocols/protocol-contract.js';
import { TEST_CALL as HELLO, TEST_UPSTREAM, withOptions } from '../../../src/testing/protocols/samples.js';
import type { ChatCall } from '../../../src/upstreams/contract/protocol.js';
import { BedrockProtocol, type BedrockOptions } from '../../../src/upstreams/protocols/bedrock/bedrock.js';
import { withOwnState } from '../../../src/upstreams/completion/provider-state.js';
import { fixturesOf } from './fixtures.js';
import { CLOCK, conversation, PIXEL, WEATHER } from './conversation.js';
import {
  converseAnswer,
  converseError,
  converseEvent,
  converseException,
  toolInput,
  toolStart,
} from '../../support/clouds/converse-stream.js';

const protocol = new BedrockProtocol();
const upstreamWith = (members: Partial<UpstreamConfig> = {}) =>
  withOptions(protocol, { ...TEST_UPSTREAM, ...members }) as UpstreamConfig<BedrockOptions>;
const ACME = upstreamWith();

const usage = { inputTokens: 3, outputTokens: 2 };
const finished = (raw: string, reason: string) => ({ finish: { reason, raw }, complete: true, usage });
const HEL = converseEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hel' } });
const STOP = converseEvent('messageStop', { stopReason: 'end_turn' });
const failed = (error: string, text = 'Hel') => ({ text, complete: false, error }) as ExpectedAnswer;

/** Answers as the API reference of Bedrock describes them (ConverseStream, looked up on 2026-11-26). */
const ANSWERS: readonly (readonly [string, Buffer, object])[] = [
  [
    'text',
    converseAnswer([[{ text: 'Hel' }, { text: 'lo 👋' }]]),
    { text: 'Hello 👋', ...finished('end_turn', 'stop') },
  ],
  [
    'reasoning with a signature, text, and a call of a tool',
    converseAnswer(
      [
        [{ reasoningContent: { text: 'So' } }, { reasoningContent: { signature: 'sig' } }],
        [{ text: 'Look.' }],
        [toolStart('tooluse_1', 'weather'), toolInput('{"city":'), toolInput('"Oslo"}')],
        [toolStart('tooluse_2', 'time')],
      ],
      'tool_use',
    ),
    {
      text: 'Look.',
      ...finished('tool_use', 'tool_calls'),
      progress: 2,
      toolCalls: [
        { name: 'weather', json: '{"city":"Oslo"}' },
        { name: 'time', json: '{}' },
      ],
    },
  ],
  [
    'counts of the cache, after the end',
    converseAnswer([[{ text: 'Hi' }]], 'end_turn', {
      ...{ inputTokens: 3, outputTokens: 2, totalTokens: 35 },
      ...{ cacheReadInputTokens: 10, cacheWriteInputTokens: 20 },
    }),
    {
      text: 'Hi',
      ...finished('end_turn', 'stop'),
      usage: { inputTokens: 33, cachedInputTokens: 10, cacheWriteInputTokens: 20, outputTokens: 2 },
    },
  ],
  ['max_tokens', converseAnswer([[{ text: 'Hi' }]], 'max_tokens'), { text: 'Hi', ...finished('max_tokens', 'length') }],
  [
    'model_context_window_exceeded',
    converseAnswer([[{ text: 'Hi' }]], 'model_context_window_exceeded'),
    { text: 'Hi', ...finished('model_context_window_exceeded', 'length') },
  ],
  [
    'guardrail_intervened',
    converseAnswer([[{ text: 'No.' }]], 'guardrail_intervened'),
    { text: 'No.', ...finished('guardrail_intervened', 'content_filter') },
  ],
  [
    'content_filtered',
    converseAnswer([[{ text: 'No.' }]], 'content_filtered'),
    { text: 'No.', ...finished('content_filtered', 'content_filter') },
  ],
  ['malformed_model_output', converseAnswer([[{ text: 'Hel' }]], 'malformed_model_output'), failed('upstream_error')],
  [
    'malformed_tool_use',
    converseAnswer([[{ text: 'Hel' }], [toolStart('t', 'weather'), toolInput('{"ci')]], 'malformed_tool_use'),
    { ...failed('upstream_error'), toolCalls: [{ name: 'weather' }] },
  ],
  [
    'an end without token counts',
    Buffer.concat([HEL, STOP]),
    { text: 'Hel', complete: true, finish: { reason: 'stop', raw: 'end_turn' } },
  ],
  ['no end', HEL, { text: 'Hel', complete: false }],
  [
    'token counts without an end',
    Buffer.concat([HEL, converseEvent('metadata', { usage })]),
    { text: 'Hel', complete: false, usage },
  ],
  [
    'citations and what may come',
    Buffer.concat([
      converseEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { citation: { title: 'x' } } }),
      converseEvent('brandNew', { a: 1 }),
      HEL,
      STOP,
    ]),
    { text: 'Hel', complete: true, progress: 1, finish: { reason: 'stop', raw: 'end_turn' } },
  ],
  ...(
    [
      ['throttlingException', 'upstream_unavailable'],
      ['modelStreamErrorException', 'upstream_error'],
      ['internalServerException', 'upstream_error'],
      ['serviceUnavailableException', 'upstream_unavailable'],
      ['validationException', 'upstream_rejected'],
      ['modelTimeoutException', 'upstream_timeout'],
      ['brandNewException', 'upstream_error'],
    ] as const
  ).map(
    ([type, code]) =>
      [type, Buffer.concat([HEL, converseException(type, { message: 'x' }), STOP]), failed(code)] as const,
  ),
  [
    'an error without a model',
    Buffer.concat([HEL, converseError('InternalFailure', 'x'), STOP]),
    failed('upstream_error'),
  ],
];

describeProtocol({
  protocol,
  accept: 'application/vnd.amazon.eventstream',
  answers: [
    ...ANSWERS.map(([name, bytes, expected]) => ({ name, bytes, expected: expected as ExpectedAnswer })),
    ...fixturesOf('bedrock'),
  ],
  body: { messages: [{ role: 'user', content: [{ text: 'Hello' }] }], inferenceConfig: { temperature: 0.7 } },
  vocabulary: [
    ...['contentBlockIndex', 'delta', 'start', 'text', 'toolUse', 'toolUseId', 'name', 'input', 'reasoningContent'],
    ...['signature', 'redactedContent', 'stopReason', 'end_turn', 'usage', 'inputTokens', 'outputTokens', 'type'],
    ...['throttlingException', 'message', 'error', 'code', 'toString', 'valueOf', '__proto__'],
  ],
});

function bodyOf(call: Partial<ChatCall>, upstream = ACME): Record<string, unknown> {
  return JSON.parse(protocol.request({ ...HELLO, ...call }, upstream).body) as Record<string, unknown>;
}

describe('the address of a model', () => {
  const EU = upstreamWith({ baseUrl: undefined, options: { region: 'eu-central-1' } });

  it('is in the region of the upstream, or in that of its credentials', () => {
    expect(protocol.baseUrl(EU)?.href).toBe('https://bedrock-runtime.eu-central-1.amazonaws.com/');
    const credentials = { kind: 'aws', options: { region: 'us-west-2' } };
    const upstream = upstreamWith({ baseUrl: undefined, credentials });
    expect(protocol.baseUrl(upstream)?.href).toBe('https://bedrock-runtime.us-west-2.amazonaws.com/');
    expect(protocol.baseUrl(upstreamWith({ baseUrl: undefined }))).toBeUndefined();
  });

  it.each([
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 'us.anthropic.claude-haiku-4-5-20251001-v1%3A0'],
    [
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2',
      'arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2',
    ],
  ])('has the id %s encoded and unchanged, whatever its region is', (model, encoded) => {
    const { url } = protocol.request({ ...HELLO, model }, ACME);
    expect(url.pathname).toBe(`/model/${encoded}/converse-stream`);
    expect(url.host).toBe('api.example.com');
  });
});

describe('a request to Converse', () => {
  const field = (name: string) =>
    expect.objectContaining({ details: [expect.objectContaining({ field: name })] }) as Error;

  it('has the options with their names, and the guardrail of the upstream', () => {
    const upstream = upstreamWith({ options: { guardrail: { id: 'gr-1', version: '2' } } });
    expect(bodyOf({ options: { temperature: 0.5, top_p: 0.9, stop: ['END'] }, maxTokens: 7 }, upstream)).toMatchObject({
      inferenceConfig: { maxTokens: 7, temperature: 0.5, topP: 0.9, stopSequences: ['END'] },
      guardrailConfig: { guardrailIdentifier: 'gr-1', guardrailVersion: '2' },
    });
  });

  it('has images, reasoning, calls, results and marks for the cache as its blocks', () => {
    const image = { type: 'image', url: 'data:image/png;base64,aGk=' } as const;
    const { messages } = bodyOf({
      tools: [{ name: 'weather', parameters: { type: 'object' }, cache: {} }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Look', cache: { ttl: '1h' } }, image] },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'So', signature: 'sig' },
            { type: 'reasoning', text: '', encrypted: 'cmVk' },
            { type: 'tool_call', id: 'call:1', name: 'weather', json: '{"n":1.0}' },
          ],
        },
        {
          role: 'tool',
          content: [{ toolCallId: 'call:1', content: [{ type: 'text', text: 'Rain' }, image], isError: true }],
        },
      ],
    });
    const block = { image: { format: 'png', source: { bytes: 'aGk=' } } };
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'Look' }, { cachePoint: { type: 'default', ttl: '1h' } }, block] },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'So', signature: 'sig' } } },
          { reasoningContent: { redactedContent: 'cmVk' } },
          { toolUse: { toolUseId: 'call_1', name: 'weather', input: { n: 1 } } },
        ],
      },
      {
        role: 'user',
        content: [{ toolResult: { toolUseId: 'call_1', content: [{ text: 'Rain' }, block], status: 'error' } }],
      },
    ]);
  });

  it('contains a conversation with images, reasoning, tool calls and results, without the reasoning of others', () => {
    const messages = withOwnState(conversation('bedrock'), { protocol: 'bedrock', upstream: 'acme' });
    const image = { image: { format: 'png', source: { bytes: PIXEL } } };
    const result = (toolUseId: string, content: object[], status: string) => ({
      toolResult: { toolUseId, content, status },
    });
    expect(bodyOf({ messages, tools: [WEATHER, CLOCK] })).toMatchObject({
      system: [{ text: 'Be brief.' }],
      messages: [
        { role: 'user', content: [{ text: 'What is this?' }, image] },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'signed' } } },
            { text: 'I look.' },
            { toolUse: { toolUseId: 'call_1', name: 'weather', input: { city: 'Paris' } } },
            { toolUse: { toolUseId: 'functions_clock_1', name: 'clock', input: {} } },
          ],
        },
        {
          role: 'user',
          content: [
            result('call_1', [{ text: 'Sunny' }], 'success'),
            result('functions_clock_1', [{ text: 'No clock' }, image], 'error'),
            { text: 'And now?' },
          ],
        },
      ],
    });
  });

  const tools = [{ name: 'weather', description: 'Rain?', parameters: { type: 'object' }, strict: true }];

  it.each([
    [undefined, undefined],
    ['required', { any: {} }],
    [{ tool: 'weather' }, { tool: { name: 'weather' } }],
  ] as const)('has tools, and the choice %j as %j', (toolChoice, expected) => {
    const { toolConfig } = bodyOf({ tools, toolChoice });
    const toolSpec = { name: 'weather', description: 'Rain?', inputSchema: { json: { type: 'object' } }, strict: true };
    expect(toolConfig).toEqual({ tools: [{ toolSpec }], ...(expected && { toolChoice: expected }) });
  });

  it('leaves tools out that must not be called, and names what Converse could never accept', () => {
    expect(bodyOf({ tools, toolChoice: 'none' })).not.toHaveProperty('toolConfig');
    const messages = [
      { role: 'user', content: 'Rain?' },
      { role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'weather', json: '{}' }] },
      { role: 'tool', content: [{ toolCallId: 'a', content: 'No' }] },
    ] as const;
    expect(() => bodyOf({ messages })).toThrow(field('tools'));
    expect(() => bodyOf({ messages, tools, toolChoice: 'none' })).toThrow(field('tool_choice'));
  });

  it('names an image without its bytes and JSON without a schema, which Converse cannot take', () => {
    const image = { type: 'image', url: 'https://example.com/a.png' } as const;
    expect(() => bodyOf({ messages: [{ role: 'user', content: [image] }] })).toThrow(field('messages'));
    expect(() => bodyOf({ responseFormat: { type: 'json' } })).toThrow(field('response_format'));
  });

  it('has a schema for the answer as text', () => {
    const schema = { type: 'object' };
    expect(bodyOf({ responseFormat: { type: 'json_schema', name: 'place', schema } }).outputConfig).toEqual({
      textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: '{"type":"object"}', name: 'place' } } },
    });
  });

  it.each([
    ['budget', { thinking: { type: 'enabled', budget_tokens: 5_000 } }, undefined],
    ['adaptive', { thinking: { type: 'adaptive' } }, { effort: 'medium' }],
    ['levels', undefined, { effort: 'medium' }],
    ['switch', undefined, undefined],
  ] as const)('has an effort for a model that takes %s', (modelThinking, fields, config) => {
    const body = bodyOf({ modelThinking, reasoning: { effort: 'medium' }, maxTokens: 10_000 });
    expect([body.additionalModelRequestFields, body.outputConfig]).toEqual([fields, config]);
    expect('temperature' in (body.inferenceConfig as object)).toBe(fields === undefined);
  });
});

describe('an exception of Bedrock before the stream', () => {
  it.each([
    ['ThrottlingException', 429, 'upstream_unavailable', 'route', 'rate_limited'],
    ['ServiceQuotaExceededException', 400, 'upstream_unavailable', 'route', 'rate_limited'],
    ['ModelNotReadyException', 429, 'upstream_unavailable', 'route', 'server'],
    ['ServiceUnavailableException:http://internal.amazon.com', 503, 'upstream_unavailable', 'route', 'server'],
    ['ModelErrorException', 424, 'upstream_error', 'route', 'server'],
    ['ModelTimeoutException', 408, 'upstream_timeout', 'route', 'timeout'],
    ['ResourceNotFoundException', 404, 'upstream_error', 'route', 'rejected'],
    ['AccessDeniedException', 403, 'upstream_error', 'route', 'unauthorized'],
    ['UnrecognizedClientException', 403, 'upstream_error', 'upstream', 'unauthorized'],
    ['ExpiredTokenException', 403, 'upstream_error', 'upstream', 'unauthorized'],
    ['ValidationException', 400, 'upstream_rejected', 'route', 'rejected'],
  ])('%s with the status %i is %s of the %s, %s', (name, status, code, scope, kind) => {
    const failure = protocol.failure(status, { 'x-amzn-errortype': name }, '{"message":"because"}');
    expect(failure).toMatchObject({ code, scope, failureCause: { kind, status } });
  });

  it.each([
    ['The provided model identifier is invalid.', 'upstream_error', undefined],
    [
      "Invocation of model ID x with on-demand throughput isn't supported. Retry with an inference profile.",
      ...(['upstream_error', undefined] as const),
    ],
    ['Input is too long for requested model.', 'upstream_rejected', true],
    ['temperature: range: 0..1', 'upstream_rejected', undefined],
  ])('about what nobody but the operator chose is no fault of the caller: %s', (message, code, isTooLong) => {
    const failure = protocol.failure(400, { 'x-amzn-errortype': 'ValidationException' }, JSON.stringify({ message }));
    expect(failure).toMatchObject({ code, isPromptTooLong: isTooLong ?? false });
    expect(failure?.providerMessage).toBe(code === 'upstream_rejected' ? message : undefined);
  });

  it('in an answer with the status 200 is a failure, too', () => {
    const body = '{"Output":{"__type":"com.amazon.coral.service#UnknownOperationException"},"Version":"1.0"}';
    expect(protocol.failure(200, {}, body)).toMatchObject({ code: 'upstream_error', scope: 'route' });
  });
});
