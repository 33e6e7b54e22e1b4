import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesTo } from '../support/catalog.js';
import { ORDINARY_TEXTS } from '../support/ordinary-texts.js';
import { get, openStream, stream } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';
import { mostTokens } from '../support/tokenizers.js';

/** One token costs one millionth of the prompt, and ten of the answer. */
const PRICE = { input_per_million: 1, output_per_million: 10 };
const TIERS = {
  free: { budget: { amount: 1, per: 'day' } },
  daily: { tokens_per_day: 100_000 },
};
/** Prose, and not one sentence again and again, which the estimate does not know. */
const CJK = `${ORDINARY_TEXTS['Chinese'] ?? ''}${ORDINARY_TEXTS['Japanese'] ?? ''}`.repeat(100).slice(0, 40_000);

interface Receipt {
  readonly tokens: { readonly input: number | null; readonly output: number | null; readonly source: string };
  readonly cost: number | null;
}

describe('tokens that no provider has reported', () => {
  const stageWith = (price: typeof PRICE) =>
    setStage(1, { catalog: (providers) => routesTo(providers, {}, price), tiers: TIERS });

  let stage: Stage;
  beforeAll(async () => {
    stage = await stageWith(PRICE);
  });
  afterAll(() => stage.clear());

  const keyOf = async (tier = 'free') => (await stage.service.createKey({ tier })).key;
  const receiptOf = async (key: string, id: string): Promise<Receipt> => {
    let receipt: Receipt | undefined;
    await expect
      .poll(async () => {
        const answer = await get(stage.origin, `/api/v1/usage/streams/${id}`, { Authorization: `Bearer ${key}` });
        if (answer.status === 200) receipt = JSON.parse(await answer.body()) as Receipt;
        return receipt;
      })
      .toBeDefined();
    return receipt as Receipt;
  };
  const leave = async (key: string, body: object): Promise<Receipt> => {
    const answer = await openStream(stage.origin, { key, body: { max_tokens: 1_000, ...body } });
    await answer.block(1);
    answer.leave();
    return receiptOf(key, String(answer.headers['x-request-id']));
  };

  it.each([
    ['white space and then other text', `${' '.repeat(2_048)}${CJK}`],
    ['one word of 2,048 letters', 'x'.repeat(2_048)],
    ['base64', Buffer.from(CJK).toString('base64').slice(0, 40_000)],
    ['one character', '長'.repeat(20_000)],
  ])('are charged for a prompt of %s', async (_, content) => {
    stage.provider.answers((call) => {
      call.head().text('Hi');
    });
    const { tokens, cost } = await leave(await keyOf(), { messages: [{ role: 'user', content }] });
    expect(tokens.input).toBeGreaterThanOrEqual(0.9 * mostTokens(content));
    expect((cost ?? 0) * 1e6).toBeGreaterThanOrEqual(0.9 * mostTokens(content));
  });

  it('are charged for a whole answer, whatever its beginning is', async () => {
    const text = `${' '.repeat(4_096)}${CJK.slice(0, 20_000)}`;
    stage.provider.answers((call) => {
      call.head().text(text).finish().endMarker().end();
    });
    const key = await keyOf();
    const answer = await stream(stage.origin, { key, body: { max_tokens: 8_000 } });
    const { tokens } = await receiptOf(key, String(answer.headers['x-request-id']));
    expect(tokens).toMatchObject({ source: 'estimated' });
    expect(tokens.output).toBeGreaterThanOrEqual(Math.min(8_000, 0.9 * mostTokens(text)));
  });

  const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

  it('are charged for reasoning that the client does not see', async () => {
    const thought = 'Let me think about the first of these three cases. '.repeat(40);
    stage.provider.answers((call) => {
      call
        .head()
        .write(event({ choices: [{ delta: { reasoning_content: thought } }] }))
        .text('Hi');
    });
    const { tokens, cost } = await leave(await keyOf(), {});
    expect(tokens.output).toBeGreaterThanOrEqual(0.9 * mostTokens(thought));
    expect((cost ?? 0) * 1e6).toBeGreaterThanOrEqual(9 * mostTokens(thought));
  });

  it('do not make the tokens free that were reported before', async () => {
    stage.provider.answers((call) => {
      call
        .head()
        .write(event({ choices: [], usage: { prompt_tokens: 5_000 } }))
        .text('Hi');
    });
    const { tokens, cost } = await leave(await keyOf(), {});
    expect(tokens.input).toBe(5_000);
    expect((cost ?? 0) * 1e6).toBeGreaterThanOrEqual(5_000);
  });

  it('are charged for the schema of the answer', async () => {
    stage.provider.answers((call) => {
      call.answer('{}');
    });
    const properties = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`member_${n}`, { type: 'string', description: 'The name of a city.' }]),
    );
    const schema = { type: 'object', properties };
    const key = await keyOf();
    const answer = await fetch(`${stage.origin}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        model: 'acme/fast',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hi' }],
        response_format: { type: 'json_schema', json_schema: { name: 'city', schema } },
      }),
    });
    expect(answer.status).toBe(200);
    const { tokens } = await receiptOf(key, String(answer.headers.get('x-request-id')));
    expect(tokens.input).toBeGreaterThanOrEqual(0.9 * mostTokens(JSON.stringify(schema)));
  });

  it('are reserved, so that requests at the same time stay within the budget', async () => {
    const dear = await stageWith({ ...PRICE, input_per_million: 15 });
    const { key } = dear;
    dear.provider.answers((call) => {
      call.head().text('Hi').finish().endMarker().end();
    });
    const body = { max_tokens: 10, messages: [{ role: 'user', content: CJK.slice(0, 20_000) }] };
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async () => (await stream(dear.origin, { key, body })).status),
    );
    // Each costs about 0.3, and reserves about twice as much.
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    const usage = await get(dear.origin, '/api/v1/usage', { Authorization: `Bearer ${key}` });
    const { budget } = JSON.parse(await usage.body()) as { budget: { spent: number } };
    expect(budget.spent).toBeLessThanOrEqual(1);
    await dear.clear();
  });

  it('of a request that is dearer than its budget are refused with the number that would fit, and no time', async () => {
    const dear = await stageWith({ ...PRICE, output_per_million: 1_000 });
    const { key } = dear;
    dear.provider.answers((call) => {
      call.answer('Hi');
    });
    const refused = await stream(dear.origin, { key, body: { max_tokens: 2_000 } });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, undefined]);
    const { message } = await refused.error();
    expect(message).toContain('is 1 USD per day. 0 USD is spent');
    const fits = Number(/Set max_tokens to at most (\d+)\.$/.exec(message)?.[1]);
    expect(fits).toBeGreaterThan(900);
    expect((await stream(dear.origin, { key, body: { max_tokens: fits } })).status).toBe(200);
    await dear.clear();
  });

  it('count for the day, from the first to the last completion of a long prompt', async () => {
    stage.provider.answers((call) => {
      call.head().text('Hi');
    });
    const key = await keyOf('daily');
    const content = CJK.slice(0, 20_000);
    await leave(key, { messages: [{ role: 'user', content }] });
    await expect
      .poll(async () =>
        Number(
          (await stream(stage.origin, { key, body: { max_tokens: 200_000 } })).headers['x-ratelimit-remaining-tokens'],
        ),
      )
      .toBeLessThanOrEqual(100_000 - 0.9 * mostTokens(content));
  });
});
