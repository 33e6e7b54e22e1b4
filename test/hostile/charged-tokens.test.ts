import fc from 'fast-check';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProviderCall } from '../../src/testing/provider/provider-call.js';
import { MODEL, routesTo } from '../support/catalog.js';
import { get } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';
import { anyText, schemas } from '../support/texts.js';
import { mostTokens } from '../support/tokenizers.js';

/** One token costs one millionth of the prompt, and ten of the answer. */
const PRICE = { input_per_million: 1, output_per_million: 10 };
const RUNS = process.env['CI'] === undefined ? 50 : 100;

interface Piece {
  readonly kind: 'reasoning' | 'text' | 'call';
  readonly text: string;
}

interface Case {
  readonly prompt: readonly string[];
  /** The parameters of the tool, and the format of the answer. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly answer: readonly Piece[];
  /** What the provider reports: everything at the end, only the prompt at the beginning, zeros at the end, or nothing. */
  readonly reports: 'all' | 'prompt' | 'zeros' | 'nothing';
  /** The client leaves after so many pieces. `undefined`: it reads the whole answer. */
  readonly leavesAfter: number | undefined;
}

const piece = (kind: Piece['kind']): fc.Arbitrary<Piece> => anyText.map((text) => ({ kind, text }));

const cases: fc.Arbitrary<Case> = fc.record({
  prompt: fc.array(anyText, { minLength: 1, maxLength: 4 }),
  schema: schemas,
  answer: fc
    .tuple(
      fc.array(piece('reasoning'), { maxLength: 2 }),
      fc.array(piece('text'), { minLength: 1, maxLength: 3 }),
      fc.array(
        fc
          .constantFrom('漢字', 'The answer is here. ', ' ', '🦄')
          .map((text): Piece => ({ kind: 'call', text: text.repeat(40) })),
        { maxLength: 1 },
      ),
    )
    .map((pieces) => pieces.flat()),
  reports: fc.constantFrom('all', 'prompt', 'zeros', 'nothing'),
  leavesAfter: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
});

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

function send(call: ProviderCall, { answer, reports, leavesAfter }: Case, tokens: { in: number; out: number }): void {
  const usage = { prompt_tokens: tokens.in, completion_tokens: tokens.out };
  call.head();
  if (reports === 'prompt') call.write(event({ choices: [], usage: { prompt_tokens: tokens.in } }));
  for (const { kind, text } of answer.slice(0, leavesAfter)) {
    if (kind === 'reasoning') call.write(event({ choices: [{ delta: { reasoning_content: text } }] }));
    else if (kind === 'text') call.text(text);
    else call.toolCall('save', JSON.stringify({ text }));
  }
  if (leavesAfter !== undefined) return;
  call.finish(answer.some(({ kind }) => kind === 'call') ? 'tool_calls' : 'stop');
  if (reports === 'all') call.write(event({ choices: [], usage }));
  if (reports === 'zeros') call.write(event({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } }));
  call.endMarker().end();
}

/** Returns the reasoning and the text of all deltas of `events`. A call is delivered when it is complete. */
function textOf(events: string): string {
  let text = '';
  for (const line of events.split('\n').slice(0, -1)) {
    if (!line.startsWith('data: {')) continue;
    const { choices } = JSON.parse(line.slice('data: '.length)) as { choices: { delta: Record<string, unknown> }[] };
    for (const { delta } of choices) {
      const parts = [delta['reasoning_content'], delta['content']];
      text += parts.filter((part) => typeof part === 'string').join('');
    }
  }
  return text;
}

describe('the charge of a completion', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage(1, {
      catalog: (providers) => {
        const { upstreams, models } = routesTo(providers, {}, PRICE);
        return { upstreams, models: models.map((model) => ({ ...model, context_length: 1_000_000 })) };
      },
      tiers: { free: { budget: { amount: 1_000, per: 'day' } } },
    });
  });
  afterAll(() => stage.clear());

  const jsonOf = async (key: string, path: string): Promise<Record<string, unknown> | undefined> => {
    const answer = await get(stage.origin, path, { Authorization: `Bearer ${key}` });
    return answer.status === 200 ? (JSON.parse(await answer.body()) as Record<string, unknown>) : undefined;
  };
  const reservedOf = async (key: string): Promise<number> => {
    const { budget } = (await jsonOf(key, '/api/v1/usage')) as { budget: { reserved: number } };
    return Math.round(budget.reserved * 1e6);
  };

  const complete = async (one: Case): Promise<{ charged: number; reserved: number; real: number }> => {
    const { key } = await stage.service.createKey();
    const { prompt, schema, answer, leavesAfter } = one;
    const tools = [{ type: 'function', function: { name: 'save', description: 'Saves.', parameters: schema } }];
    const passed = answer.slice(0, leavesAfter);
    const shown = passed.map(({ kind, text }) => (kind === 'call' ? '' : text)).join('');
    const schemaText = JSON.stringify(schema);
    const inTokens = [...prompt, schemaText, schemaText].reduce((sum, text) => sum + mostTokens(text), 0);
    const outTokens = passed.reduce((sum, { text }) => sum + mostTokens(text), 0);
    let reserved = 0;
    stage.provider.answers(async (call) => {
      reserved = await reservedOf(key);
      send(call, one, { in: inTokens, out: outTokens });
    });
    const leaving = new AbortController();
    const response = await fetch(`${stage.origin}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        model: MODEL,
        stream: true,
        max_tokens: outTokens,
        messages: prompt.map((content) => ({ role: 'user', content })),
        tools,
        response_format: { type: 'json_schema', json_schema: { name: 'saved', schema } },
      }),
      signal: leaving.signal,
    });
    expect(response.status).toBe(200);
    let events = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      events += decoder.decode(chunk, { stream: true });
      if (leavesAfter !== undefined && textOf(events) === shown) break;
    }
    // A call that goes on is not delivered yet.
    if (passed.at(-1)?.kind === 'call') await setTimeout(50);
    leaving.abort();
    expect(textOf(events)).toBe(shown);
    const path = `/api/v1/usage/streams/${response.headers.get('x-request-id') ?? ''}`;
    await expect.poll(() => jsonOf(key, path), { timeout: 10_000 }).toBeDefined();
    const { cost } = (await jsonOf(key, path)) as { cost: number };
    return { charged: Math.round(cost * 1e6), reserved, real: inTokens + 10 * outTokens };
  };

  it('is at least 90 % of what a tokenizer counts, and never more than its reservation, whoever leaves and whatever is reported', async () => {
    await fc.assert(
      fc.asyncProperty(cases, async (one) => {
        const { charged, reserved, real } = await complete(one);
        expect(charged).toBeGreaterThanOrEqual(0.9 * real);
        expect(reserved).toBeGreaterThanOrEqual(charged);
      }),
      { numRuns: RUNS, endOnFailure: true, seed: 47 },
    );
  }, 300_000);
});
