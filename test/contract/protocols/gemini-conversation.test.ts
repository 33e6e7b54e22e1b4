import { describe, expect, it } from 'vitest';
import { GeminiProtocol, type GeminiOptions } from '../../../src/upstreams/protocols/gemini/gemini.js';
import { TEST_CALL, TEST_UPSTREAM } from '../../../src/testing/protocols/samples.js';
import { withOwnState } from '../../../src/upstreams/completion/provider-state.js';
import type { ChatCall } from '../../../src/upstreams/contract/protocol.js';
import { CLOCK, conversation, PIXEL, REMOTE_IMAGE, SCHEMA, WEATHER, withCountedIds } from './conversation.js';

const protocol = new GeminiProtocol();
const TOOLS = [WEATHER, CLOCK];

const bodyOf = (given: Partial<ChatCall>, options: GeminiOptions = {}) => {
  const call = { ...TEST_CALL, options: {}, ...given };
  const messages = withOwnState(call.messages, { protocol: protocol.name, upstream: 'acme' });
  const { body } = protocol.request({ ...call, messages }, { ...TEST_UPSTREAM, options });
  return JSON.parse(body) as Record<string, unknown>;
};

describe('the request of the protocol gemini', () => {
  it('contains a conversation with images, signatures, function calls and results', () => {
    const image = { inlineData: { mimeType: 'image/png', data: PIXEL } };
    expect(bodyOf({ messages: conversation('gemini'), tools: TOOLS })).toMatchObject({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'What is this?' }, image] },
        {
          role: 'model',
          parts: [
            { text: 'Hm.', thought: true, thoughtSignature: 'signed' },
            { text: 'I look.' },
            { functionCall: { name: 'weather', args: { city: 'Paris' } }, thoughtSignature: 'called' },
            { functionCall: { name: 'clock', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'weather', response: { result: 'Sunny' } } },
            { functionResponse: { name: 'clock', response: { error: 'No clock' } } },
            image,
            { text: 'And now?' },
          ],
        },
      ],
    });
  });

  it('has the value that Google names for a call without a signature, unless the model takes a budget', () => {
    const messages = conversation('openai');
    const signatures = (modelThinking?: 'levels' | 'budget') => {
      const contents = bodyOf({ messages, modelThinking })['contents'] as { parts: Record<string, unknown>[] }[];
      const calls = contents.flatMap(({ parts }) => parts).filter((part) => 'functionCall' in part);
      return calls.map(({ thoughtSignature }) => thoughtSignature);
    };
    expect(signatures()).toEqual(['skip_thought_signature_validator', undefined]);
    expect(signatures('levels')).toEqual(['skip_thought_signature_validator', undefined]);
    expect(signatures('budget')).toEqual([undefined, undefined]);
  });

  it('has a level for a model that takes levels', () => {
    expect(bodyOf({ reasoning: { effort: 'low' }, modelThinking: 'levels' })['generationConfig']).toEqual({
      thinkingConfig: { thinkingLevel: 'low' },
    });
    expect(bodyOf({ reasoning: { budget_tokens: 9_000 }, modelThinking: 'levels' })['generationConfig']).toEqual({
      thinkingConfig: { thinkingLevel: 'high' },
    });
  });

  it('refuses an image that the provider would have to fetch', () => {
    expect(() => bodyOf({ messages: [{ role: 'user', content: [REMOTE_IMAGE] }] })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [{ field: 'messages', message: expect.stringContaining('data URL') as string }],
      }),
    );
  });

  it('has the tools', () => {
    expect(bodyOf({ tools: TOOLS })).toMatchObject({
      tools: [
        {
          functionDeclarations: [
            { name: 'weather', description: 'The weather.', parametersJsonSchema: SCHEMA },
            { name: 'clock', parametersJsonSchema: { type: 'object' } },
          ],
        },
      ],
    });
    expect(bodyOf({})).not.toHaveProperty('tools');
  });

  it.each([
    ['auto', undefined],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [{ tool: 'clock' }, { mode: 'ANY', allowedFunctionNames: ['clock'] }],
  ] as const)('has the tool choice %j', (toolChoice, expected) => {
    const toolConfig = expected && { functionCallingConfig: expected };
    expect(bodyOf({ tools: TOOLS, toolChoice })['toolConfig']).toEqual(toolConfig);
  });

  it.each([
    [{ type: 'text' }, {}],
    [{ type: 'json' }, { responseMimeType: 'application/json' }],
    [
      { type: 'json_schema', name: 'place', schema: SCHEMA },
      { responseMimeType: 'application/json', responseJsonSchema: SCHEMA },
    ],
  ] as const)('has the response format %j', (responseFormat, expected) => {
    expect(bodyOf({ responseFormat })['generationConfig']).toEqual(expected);
  });

  it.each([
    [{ effort: 'medium' }, {}, { thinkingBudget: 8_192 }],
    [{ effort: 'none' }, {}, { thinkingBudget: 0 }],
    [{ budget_tokens: 2_000, include_text: true }, {}, { thinkingBudget: 2_000, includeThoughts: true }],
    [{ effort: 'xhigh' }, { thinking_level: 'low' }, { thinkingLevel: 'high' }],
    [{ include_text: true }, { thinking_level: 'low' }, { thinkingLevel: 'low', includeThoughts: true }],
    [{}, {}, undefined],
  ] as const)('reasons with %j at an upstream with %j as %j', (reasoning, options, thinkingConfig) => {
    expect(bodyOf({ reasoning }, options)['generationConfig']).toEqual(
      thinkingConfig === undefined ? {} : { thinkingConfig },
    );
  });
});

describe('an answer of the protocol gemini', () => {
  const partsOf = (...parts: object[]) =>
    protocol.open().parts({ event: 'message', data: JSON.stringify({ candidates: [{ content: { parts } }] }) });

  it('has thoughts, texts and calls in their order, with signatures', () => {
    const parts = partsOf(
      { text: 'Hm.', thought: true },
      { text: 'I look.', thoughtSignature: 'of-text' },
      { functionCall: { name: 'weather', args: { city: 'Paris' } }, thoughtSignature: 'called' },
      { functionCall: { id: 'own', name: 'clock' } },
    );
    expect(withCountedIds(parts)).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'I look.' },
      { type: 'reasoning', text: '', signature: 'of-text' },
      { type: 'tool_call_start', id: '#0', name: 'weather', index: 0, signature: 'called' },
      { type: 'tool_call_delta', id: '#0', json: '{"city":"Paris"}' },
      { type: 'tool_call_end', id: '#0' },
      { type: 'tool_call_start', id: '#1', name: 'clock', index: 0 },
      { type: 'tool_call_end', id: '#1' },
    ]);
    expect(parts.at(-1)).toEqual({ type: 'tool_call_end', id: 'own' });
  });
});
