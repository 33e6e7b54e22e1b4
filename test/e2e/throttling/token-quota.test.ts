import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { RequestValidationPipe } from '../../../src/http/request/request-validation.pipe.js';
import type { TokensUsed } from '../../../src/index.js';
import { Latch } from '../../support/latch.js';
import { openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';

const LIMIT = 1000;
const USED_BEFORE = 700;
/** Estimated at 25 tokens. */
const MESSAGES = [
  { role: 'user', content: 'word '.repeat(24) },
  { role: 'assistant', content: 'word' },
];

const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 250, completion_tokens: 50 } })}\n\n`;

const askedSince: Date[] = [];
const ledger: TokensUsed = {
  since(_, from) {
    askedSince.push(from);
    return Promise.resolve(USED_BEFORE);
  },
};

describe('the tokens of a day', () => {
  let stage: Stage;

  beforeAll(async () => {
    const tiers = {
      free: { tokens_per_day: LIMIT },
      capped: { tokens_per_day: LIMIT, max_tokens: 150 },
      counted: { tokens_per_day: LIMIT, requests_per_minute: 3 },
    };
    stage = await setStage(1, { tiers, tokensUsed: ledger });
  });
  beforeEach(() => {
    stage.provider.calls.length = 0;
    stage.provider.answers((call) => {
      call.answer('Hi');
    });
  });
  afterAll(() => stage.clear());

  const keyOf = async (tier: string) => (await stage.service.createKey({ tier })).key;
  const ask = (key: string, body: object = {}) => stream(stage.origin, { key, body: { messages: MESSAGES, ...body } });
  const sent = () => JSON.parse(stage.provider.calls.at(-1)?.body ?? '{}') as { max_tokens?: number };

  it('begin at midnight in UTC, with what was used since', async () => {
    const { headers } = await ask(await keyOf('free'), { max_tokens: 100 });

    expect(askedSince.at(-1)?.toISOString()).toMatch(/T00:00:00.000Z$/);
    expect(headers['x-ratelimit-limit-tokens']).toBe(String(LIMIT));
    expect(headers['x-ratelimit-remaining-tokens']).toBe(String(LIMIT - USED_BEFORE - 125));
    const secondsLeft = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
    expect(Math.abs(Number(headers['x-ratelimit-reset-tokens']) - secondsLeft)).toBeLessThan(5);
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });

  it('are estimated for a prompt in any script', async () => {
    const { headers } = await ask(await keyOf('free'), {
      messages: [{ role: 'user', content: '你好世界'.repeat(25) }],
      max_tokens: 100,
    });
    const reserved = LIMIT - USED_BEFORE - Number(headers['x-ratelimit-remaining-tokens']) - 100;
    expect(reserved).toBeGreaterThan(70);
    expect(reserved).toBeLessThan(110);
  });

  it('refuse a request that may use more than is left, and say when they are renewed', async () => {
    const key = await keyOf('free');

    const refused = await ask(key, { max_tokens: LIMIT - USED_BEFORE - 24 });

    const { code, message } = await refused.error();
    expect({ status: refused.status, code }).toEqual({ status: 429, code: 'quota_exceeded' });
    expect(message).toContain('300 remain until midnight UTC, and this request needs 301.');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['x-ratelimit-remaining-tokens']).toBe('300');
    expect(stage.provider.calls).toHaveLength(0);
    expect((await ask(key, { max_tokens: LIMIT - USED_BEFORE - 25 })).status).toBe(200);
  });

  it('are estimated from a body that is validated once', async () => {
    const validations = vi.spyOn(RequestValidationPipe.prototype, 'validated');
    try {
      expect((await ask(await keyOf('free'))).status).toBe(200);
      expect((await ask(await keyOf('free'), { max_tokens: 'many' })).status).toBe(400);
      expect(validations).toHaveBeenCalledTimes(2);
    } finally {
      validations.mockRestore();
    }
  });

  it('count a request with an invalid body, which uses no tokens', async () => {
    const { status, headers } = await ask(await keyOf('counted'), { max_tokens: 'many' });

    expect(status).toBe(400);
    expect(headers['x-ratelimit-remaining']).toBe('2');
    expect(headers['x-ratelimit-remaining-tokens']).toBe(String(LIMIT - USED_BEFORE));
  });

  it('bound an answer without a requested length by the remaining quota', async () => {
    await ask(await keyOf('free'));
    expect(sent().max_tokens).toBe(LIMIT - USED_BEFORE - 25);
  });

  it('leave the length of an answer alone when enough are left', async () => {
    await ask(await keyOf('capped'));
    expect(sent().max_tokens).toBe(150);
  });

  it('are reserved while a stream runs', async () => {
    const key = await keyOf('free');
    const latch = new Latch();
    stage.provider.next(async (call) => {
      call.head().text('Hi');
      await latch.opened;
      call.finish().endMarker().end();
    });
    const running = await openStream(stage.origin, { key, body: { messages: MESSAGES, max_tokens: 200 } });

    const refused = await ask(key, { max_tokens: 60 });

    expect((await refused.error()).code).toBe('quota_exceeded');
    expect(refused.headers['x-ratelimit-remaining-tokens']).toBe('75');
    latch.open();
    await running.over;
  });

  it('are not needed by an invalid body: it is refused as invalid, and counts as a request', async () => {
    const key = await keyOf('counted');
    for (const body of [{ max_tokens: '9999' }, { max_tokens: -1 }, { messages: [] }]) {
      expect((await ask(key, body)).status).toBe(400);
    }
    const refused = await ask(key);
    expect((await refused.error()).code).toBe('rate_limit_exceeded');
    expect(refused.headers['x-ratelimit-remaining-tokens']).toBe('300');
  });

  it('are not used up by a request that another limit refuses', async () => {
    const key = await keyOf('counted');
    for (let request = 0; request < 3; request++) expect((await ask(key, { max_tokens: 1 })).status).toBe(200);
    const before = await ask(key, { max_tokens: 200 });
    expect((await before.error()).code).toBe('rate_limit_exceeded');
    expect(before.headers['x-ratelimit-remaining-tokens']).toBe(
      (await ask(key)).headers['x-ratelimit-remaining-tokens'],
    );
  });

  it('refuse a request for more than the cap of the tier as wrong, not for the quota', async () => {
    expect((await (await ask(await keyOf('capped'), { max_tokens: 5000 })).error()).code).toBe('invalid_request');
  });
});

describe('the tokens of a minute', () => {
  let stage: Stage;

  beforeAll(async () => {
    const tiers = { free: { tokens_per_minute: LIMIT }, both: { tokens_per_minute: LIMIT, tokens_per_day: 5 * LIMIT } };
    stage = await setStage(1, { tiers, tokensUsed: ledger });
    stage.provider.answers((call) => {
      call.head().text('Hi').finish().write(USAGE).endMarker().end();
    });
  });
  afterAll(() => stage.clear());

  const keyOf = async (tier: string) => (await stage.service.createKey({ tier })).key;
  const ask = (key: string, body: object) => stream(stage.origin, { key, body: { messages: MESSAGES, ...body } });

  it('are reserved, settled, and refused with the time to the end of the minute', async () => {
    const key = await keyOf('free');
    const first = await ask(key, { max_tokens: 400 });
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit-tokens-minute': String(LIMIT),
      'x-ratelimit-remaining-tokens-minute': String(LIMIT - 425),
    });
    expect(first.headers['x-ratelimit-limit-tokens']).toBeUndefined();

    const refused = await ask(key, { max_tokens: LIMIT });

    const { code, message } = await refused.error();
    expect([refused.status, code]).toEqual([429, 'rate_limit_exceeded']);
    // The provider has reported 300 tokens for the first request.
    expect(message).toBe(
      'The tier allows 1000 tokens per minute. 700 remain in this minute, and this request needs 1025.',
    );
    expect(refused.headers['x-ratelimit-remaining-tokens-minute']).toBe('700');
    const retryAfter = Number(refused.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(refused.headers['x-ratelimit-reset-tokens-minute']).toBe(String(retryAfter));
    expect((await ask(key, { max_tokens: 675 })).status).toBe(200);
  });

  it('bound an answer together with the tokens of the day', async () => {
    const { headers } = await ask(await keyOf('both'), {});
    const sent = JSON.parse(stage.provider.calls.at(-1)?.body ?? '{}') as { max_tokens?: number };
    expect(sent.max_tokens).toBe(LIMIT - 25);
    expect(headers).toMatchObject({
      'x-ratelimit-remaining-tokens-minute': '0',
      'x-ratelimit-remaining-tokens': String(5 * LIMIT - USED_BEFORE - LIMIT),
    });
  });
});
