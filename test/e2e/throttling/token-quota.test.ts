import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { RequestValidationPipe } from '../../../src/platform/http/request/request-validation.pipe.js';
import type { Message } from '../../../src/upstreams/contract/conversation.js';
import { promptTokensNow } from '../../../src/upstreams/tokens/prompt-tokens.js';
import { answering, endingAfter } from '../../support/scripts.js';
import { testUsageRecord } from '../../support/usage-records.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { Latch } from '../../support/latch.js';
import { openStream, stream } from '../../support/sse-client.js';
import type { RunningService } from '../../support/service.js';
import { setStage, type Stage } from '../../support/stage.js';

const LIMIT = 1000;
const USED_BEFORE = 700;
const MESSAGES: Message[] = [
  { role: 'user', content: 'word '.repeat(24) },
  { role: 'assistant', content: 'word' },
];
/** What the prompt reserves. */
const PROMPT = promptTokensNow({ messages: MESSAGES }).atMost;

const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 250, completion_tokens: 50 } })}\n\n`;

/** Returns a key of a new account, whose streams have used {@link USED_BEFORE} tokens today, and as many yesterday. */
async function keyOf(service: RunningService, tier: string): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  const { key } = await service.createKey({ tier, email });
  const { id: accountId = '' } = (await service.app.get(AccountsService, { strict: false }).findByEmail(email)) ?? {};
  const tokens = {
    inputTokens: { source: 'reported', count: USED_BEFORE },
    outputTokens: { source: 'unknown' },
  } as const;
  const midnight = new Date().setUTCHours(0, 0, 0, 0);
  const records = [midnight, midnight - 1].map((startedAt) => testUsageRecord({ accountId, startedAt, ...tokens }));
  await service.app.get(UsageStore, { strict: false }).append(records);
  return key;
}

describe('the tokens of a day', () => {
  let stage: Stage;

  beforeAll(async () => {
    const tiers = {
      free: { tokens_per_day: LIMIT },
      capped: { tokens_per_day: LIMIT, max_tokens: 150 },
      counted: { tokens_per_day: LIMIT, requests_per_minute: 3 },
    };
    stage = await setStage(1, { tiers });
  });
  beforeEach(() => {
    stage.provider.calls.length = 0;
    stage.provider.answers(answering('Hi'));
  });
  afterAll(() => stage.clear());

  const ask = (key: string, body: object = {}) => stream(stage.origin, { key, body: { messages: MESSAGES, ...body } });
  const sent = () => JSON.parse(stage.provider.calls.at(-1)?.body ?? '{}') as { max_tokens?: number };

  it('begin at midnight in UTC, with what was used since', async () => {
    const { headers } = await ask(await keyOf(stage.service, 'free'), { max_tokens: 100 });

    expect(headers['x-ratelimit-limit-tokens']).toBe(String(LIMIT));
    expect(headers['x-ratelimit-remaining-tokens']).toBe(String(LIMIT - USED_BEFORE - PROMPT - 100));
    const secondsLeft = 86_400 - (Math.floor(Date.now() / 1000) % 86_400);
    expect(Math.abs(Number(headers['x-ratelimit-reset-tokens']) - secondsLeft)).toBeLessThan(5);
    expect(headers['x-ratelimit-limit']).toBeUndefined();
  });

  it('are estimated for a prompt in any script', async () => {
    const { headers } = await ask(await keyOf(stage.service, 'free'), {
      messages: [{ role: 'user', content: '你好世界'.repeat(10) }],
      max_tokens: 50,
    });
    const reserved = LIMIT - USED_BEFORE - Number(headers['x-ratelimit-remaining-tokens']) - 50;
    // 40 characters: at most their bytes, and 6 tokens for the message.
    expect(reserved).toBeGreaterThan(40);
    expect(reserved).toBeLessThanOrEqual(126);
  });

  it('refuse a request that may use more than is left, and say when they are renewed', async () => {
    const key = await keyOf(stage.service, 'free');

    const refused = await ask(key, { max_tokens: LIMIT - USED_BEFORE - PROMPT + 1 });

    const { code, message } = await refused.error();
    expect({ status: refused.status, code }).toEqual({ status: 429, code: 'quota_exceeded' });
    expect(message).toContain(
      `300 remain until midnight UTC, and this request needs up to 301. Set max_tokens to at most ${300 - PROMPT}.`,
    );
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['x-ratelimit-remaining-tokens']).toBe('300');
    expect(stage.provider.calls).toHaveLength(0);
    expect((await ask(key, { max_tokens: LIMIT - USED_BEFORE - PROMPT })).status).toBe(200);
  });

  it('are estimated from a body that is validated once', async () => {
    const validations = vi.spyOn(RequestValidationPipe.prototype, 'validated');
    try {
      expect((await ask(await keyOf(stage.service, 'free'))).status).toBe(200);
      expect((await ask(await keyOf(stage.service, 'free'), { max_tokens: 'many' })).status).toBe(400);
      expect(validations).toHaveBeenCalledTimes(2);
    } finally {
      validations.mockRestore();
    }
  });

  it('count a request with an invalid body, which uses no tokens', async () => {
    const { status, headers } = await ask(await keyOf(stage.service, 'counted'), { max_tokens: 'many' });

    expect(status).toBe(400);
    expect(headers['x-ratelimit-remaining']).toBe('2');
    expect(headers['x-ratelimit-remaining-tokens']).toBe(String(LIMIT - USED_BEFORE));
  });

  it('bound an answer without a requested length by the remaining quota', async () => {
    await ask(await keyOf(stage.service, 'free'));
    expect(sent().max_tokens).toBe(LIMIT - USED_BEFORE - PROMPT);
  });

  it('leave the length of an answer alone when enough are left', async () => {
    await ask(await keyOf(stage.service, 'capped'));
    expect(sent().max_tokens).toBe(150);
  });

  it('are reserved while a stream runs', async () => {
    const key = await keyOf(stage.service, 'free');
    const latch = new Latch();
    stage.provider.next(endingAfter(latch, 'Hi'));
    const running = await openStream(stage.origin, { key, body: { messages: MESSAGES, max_tokens: 100 } });

    const refused = await ask(key, { max_tokens: 200 - PROMPT });

    expect((await refused.error()).code).toBe('quota_exceeded');
    expect(refused.headers['x-ratelimit-remaining-tokens']).toBe(String(200 - PROMPT));
    latch.open();
    await running.over;
  });

  it('are not needed by an invalid body: it is refused as invalid, and counts as a request', async () => {
    const key = await keyOf(stage.service, 'counted');
    for (const body of [{ max_tokens: '9999' }, { max_tokens: -1 }, { messages: [] }]) {
      expect((await ask(key, body)).status).toBe(400);
    }
    const refused = await ask(key);
    expect((await refused.error()).code).toBe('rate_limit_exceeded');
    expect(refused.headers['x-ratelimit-remaining-tokens']).toBe('300');
  });

  it('are not used up by a request that another limit refuses', async () => {
    const key = await keyOf(stage.service, 'counted');
    for (let request = 0; request < 3; request++) expect((await ask(key, { max_tokens: 1 })).status).toBe(200);
    const before = await ask(key, { max_tokens: 200 });
    expect((await before.error()).code).toBe('rate_limit_exceeded');
    expect(before.headers['x-ratelimit-remaining-tokens']).toBe(
      (await ask(key)).headers['x-ratelimit-remaining-tokens'],
    );
  });

  it('refuse a request for more than the cap of the tier as wrong, not for the quota', async () => {
    expect((await (await ask(await keyOf(stage.service, 'capped'), { max_tokens: 5000 })).error()).code).toBe(
      'invalid_request',
    );
  });
});

describe('the tokens of a minute', () => {
  let stage: Stage;

  beforeAll(async () => {
    const tiers = { free: { tokens_per_minute: LIMIT }, both: { tokens_per_minute: LIMIT, tokens_per_day: 5 * LIMIT } };
    stage = await setStage(1, { tiers });
    stage.provider.answers((call) => {
      call.head().text('Hi').finish().write(USAGE).endMarker().end();
    });
  });
  afterAll(() => stage.clear());

  const ask = (key: string, body: object) => stream(stage.origin, { key, body: { messages: MESSAGES, ...body } });

  it('are reserved, settled, and refused with the time to the end of the minute', async () => {
    const key = await keyOf(stage.service, 'free');
    const first = await ask(key, { max_tokens: 400 });
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit-tokens-minute': String(LIMIT),
      'x-ratelimit-remaining-tokens-minute': String(LIMIT - PROMPT - 400),
    });
    expect(first.headers['x-ratelimit-limit-tokens']).toBeUndefined();

    const refused = await ask(key, { max_tokens: LIMIT });

    const { code, message } = await refused.error();
    expect([refused.status, code]).toEqual([429, 'rate_limit_exceeded']);
    // The provider has reported 300 tokens for the first request.
    expect(message).toBe(
      `The tier allows 1000 tokens per minute. 700 remain in this minute, which began with its first request, and this request needs up to ${PROMPT + LIMIT}. ` +
        `Set max_tokens to at most ${700 - PROMPT}.`,
    );
    // Waiting does not help.
    expect(refused.headers['retry-after']).toBeUndefined();
    const later = await ask(key, { max_tokens: 800 });
    expect(later.status).toBe(429);
    expect(refused.headers['x-ratelimit-remaining-tokens-minute']).toBe('700');
    const retryAfter = Number(later.headers['retry-after']);
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(60);
    expect(later.headers['x-ratelimit-reset-tokens-minute']).toBe(String(retryAfter));
    expect((await ask(key, { max_tokens: 700 - PROMPT })).status).toBe(200);
  });

  it('bound an answer together with the tokens of the day', async () => {
    const { headers } = await ask(await keyOf(stage.service, 'both'), {});
    const sent = JSON.parse(stage.provider.calls.at(-1)?.body ?? '{}') as { max_tokens?: number };
    expect(sent.max_tokens).toBe(LIMIT - PROMPT);
    expect(headers).toMatchObject({
      'x-ratelimit-remaining-tokens-minute': '0',
      'x-ratelimit-remaining-tokens': String(5 * LIMIT - USED_BEFORE - LIMIT),
    });
  });
});
