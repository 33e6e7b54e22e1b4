import { describe, expect, it } from 'vitest';
import type { ModelConfig, RouteConfig } from '../../../../src/platform/config/config.js';
import type { GenerationOption } from '../../../../src/platform/config/capabilities.js';
import type { OptionNames, Protocol } from '../../../../src/upstreams/contract/protocol.js';
import {
  optionsForRoute,
  withRoutesFor,
  type CapabilityMembers,
  neededCapabilities,
} from '../../../../src/upstreams/routing/route-options.js';

const protocolWith = (generationOptions?: OptionNames) => ({ generationOptions }) as Protocol;
const FULL = protocolWith({ temperature: 'temperature', top_p: 'top_p', seed: 'seed' });
const NONE = protocolWith();

const routeTo = (model: string, ...unsupportedOptions: GenerationOption[]) =>
  ({ model, unsupportedOptions }) as unknown as RouteConfig;

describe('the routes that take the options of a request', () => {
  it('are all routes of the model for a request without options', () => {
    const model = { id: 'acme/fast', routes: [routeTo('a', 'temperature')] } as unknown as ModelConfig;
    expect(withRoutesFor(model, { temperature: 0.7, top_p: undefined }, () => NONE)).toBe(model);
  });

  it('are none for options that only different routes take', () => {
    const message = 'is not supported by the model acme/fast together with the other options';
    const model = { id: 'acme/fast', routes: [routeTo('a', 'seed'), routeTo('b', 'top_p')] } as unknown as ModelConfig;
    expect(() => withRoutesFor(model, { top_p: 0.5, seed: 7 }, () => FULL)).toThrow(
      expect.objectContaining({ details: ['top_p', 'seed'].map((field) => ({ field, message })) }),
    );
  });
});

describe('the options for a route', () => {
  it('are the same object when the route accepts the temperature', () => {
    const options = { temperature: 1, seed: 7 };
    expect(optionsForRoute(options, FULL, routeTo('a'), {})).toBe(options);
  });

  it('have no temperature when the route does not take it', () => {
    expect(optionsForRoute({ temperature: 1, seed: 7 }, FULL, routeTo('a', 'temperature'), {})).toEqual({ seed: 7 });
  });
});

const IMAGE = { type: 'image', url: 'https://example.com/a.png' } as const;
const TEXT = { type: 'text', text: 'Hi' } as const;

const needs = (members: Partial<CapabilityMembers>) =>
  neededCapabilities({ messages: [{ role: 'user', content: 'Hi' }], ...members }).map(
    ({ capability, field }) => `${field}: ${capability}`,
  );

describe('the capabilities that a request needs', () => {
  it('are none for texts and earlier reasoning', () => {
    const assistant = {
      role: 'assistant',
      content: [{ type: 'reasoning', text: 'hm', signature: 's' }, TEXT],
    } as const;
    expect(
      needs({ messages: [{ role: 'system', content: [TEXT] }, { role: 'user', content: [TEXT] }, assistant] }),
    ).toEqual([]);
    expect(needs({ responseFormat: { type: 'text' }, reasoning: { effort: 'none', include_text: true } })).toEqual([]);
  });

  it('are named by the members', () => {
    const call = { type: 'tool_call', id: '1', name: 'f', json: '{}' } as const;
    const result = { toolCallId: '1', content: [TEXT, IMAGE] };
    expect(
      needs({
        messages: [
          { role: 'user', content: [TEXT, IMAGE] },
          { role: 'assistant', content: [TEXT, call, call] },
          { role: 'tool', content: [result] },
        ],
        tools: [{ name: 'f', parameters: {} }],
        responseFormat: { type: 'json' },
        reasoning: { budget_tokens: 1_024 },
      }),
    ).toEqual([
      ...['tools: tools', 'response_format: structured_output', 'reasoning: reasoning'],
      ...['messages.0.content.1: images', 'messages.1.content.1: tools', 'messages.2.content: tools'],
      'messages.2.content.0.content.1: images',
    ]);
  });
});
