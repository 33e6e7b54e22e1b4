import { describe, expect, it } from 'vitest';
import type { HttpProtocol } from '../../../src/upstreams/contract/protocol.js';
import { AnthropicProtocol } from '../../../src/upstreams/protocols/anthropic/anthropic.js';
import { GeminiProtocol } from '../../../src/upstreams/protocols/gemini/gemini.js';
import { OllamaProtocol } from '../../../src/upstreams/protocols/ollama/ollama.js';
import { OpenAiProtocol } from '../../../src/upstreams/protocols/openai/openai.js';
import { OpenAiResponsesProtocol } from '../../../src/upstreams/protocols/openai-responses/openai-responses.js';
import { fixturesOf, type Fixture } from './fixtures.js';
import { subjectOf } from '../../../src/testing/protocols/protocol-contract.js';
import { replay } from '../../../src/testing/protocols/replay.js';

/** The protocols, each with the total that its provider states. Anthropic and Ollama state the parts of the total. */
const TOTALS: readonly (readonly [HttpProtocol, (events: string) => number | undefined])[] = [
  [new OpenAiProtocol(), (events) => last(events, /"total_tokens":(\d+)/g)],
  [new OpenAiResponsesProtocol(), (events) => last(events, /"total_tokens":(\d+)/g)],
  [new GeminiProtocol(), (events) => last(events, /"totalTokenCount":\s*(\d+)/g)],
  [
    new AnthropicProtocol(),
    (events) =>
      sum(events, ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens']),
  ],
  [new OllamaProtocol(), (events) => sum(events, ['prompt_eval_count', 'eval_count'])],
];

describe.each(TOTALS)('$name', (protocol, totalOf) => {
  const withTotal = fixturesOf(protocol.name).filter(isComplete);

  it('has recorded answers with counts', () => {
    expect(withTotal.length).toBeGreaterThan(1);
  });

  it.each(withTotal)('adds up to the total of the provider: $name', ({ bytes }) => {
    const { usage = {} } = replay(subjectOf({ protocol }), [bytes]);
    const { inputTokens = 0, outputTokens = 0 } = usage;
    const { cachedInputTokens = 0, cacheWriteInputTokens = 0, reasoningOutputTokens = 0 } = usage;
    expect(inputTokens + outputTokens).toBe(totalOf(bytes.toString()));
    expect(cachedInputTokens + cacheWriteInputTokens).toBeLessThanOrEqual(inputTokens);
    expect(reasoningOutputTokens).toBeLessThanOrEqual(outputTokens);
  });
});

/** The provider has counted the prompt and the answer. */
function isComplete({ expected: { usage = {} } }: Fixture): boolean {
  return usage.inputTokens !== undefined && usage.outputTokens !== undefined;
}

function last(events: string, count: RegExp): number | undefined {
  const found = [...events.matchAll(count)].at(-1)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Returns the sum of the last counts with these names. Later counts replace earlier counts. */
function sum(events: string, names: readonly string[]): number {
  return names.reduce((total, name) => total + (last(events, new RegExp(`"${name}":\\s*(\\d+)`, 'g')) ?? 0), 0);
}
