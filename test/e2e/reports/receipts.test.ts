import { Controller, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import {
  Caller,
  ChatPlugin,
  ChatService,
  StreamSender,
  type ChatCaller,
  type CompletionPart,
  type StreamFormat,
} from '../../../src/index.js';
import { MODEL } from '../../support/catalog.js';
import { Latch } from '../../support/latch.js';
import { answering, beginning, endingAfter, refusing } from '../../support/scripts.js';
import { interruptedRecord, testStartedStream } from '../../support/usage-records.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { get, openStream, stream, type ReceivedStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { atMostEvery, waitFor } from '../../support/wait-for.js';

const PRICE = {
  input_per_million: 2,
  cached_input_per_million: 0.5,
  cache_write_input_per_million: 3,
  output_per_million: 10,
  reasoning_output_per_million: 20,
};
/** 52 fresh, 40 cached and 8 written tokens; 6 tokens of text and 4 of reasoning: 104 + 20 + 24 + 60 + 80 millionths. */
const USAGE = {
  prompt_tokens: 100,
  prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 8 },
  completion_tokens: 10,
  completion_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 110,
};
const COST = 0.000288;
const usageChunk = (usage: object) => `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
/** An account can request 60 receipts a minute. */
const REQUEST_EVERY_MS = 100;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;
const DURATION = expect.any(Number) as number;

const receipt = (origin: string, key: string, requestId: unknown) =>
  get(origin, `/api/v1/usage/streams/${encodeURIComponent(String(requestId))}`, { authorization: `Bearer ${key}` });

/** The receipt of a stream. A request while the stream runs, and just after its end, may find none. */
const receiptOf = (origin: string, key: string, answer: ReceivedStream): Promise<object> =>
  waitFor(
    atMostEvery(REQUEST_EVERY_MS, async () => {
      const { status, raw } = await receipt(origin, key, answer.headers['x-request-id']);
      expect([200, 404]).toContain(status);
      return status === 200 ? (JSON.parse(raw) as object) : undefined;
    }),
    'the receipt',
  );

describe('the receipt of a stream', () => {
  let stage: Stage;
  let key: string;

  beforeAll(async () => {
    stage = await setStage(2, { price: PRICE, currency: 'EUR' });
  });
  beforeEach(async () => {
    ({ key } = await stage.service.createKey());
  });
  afterAll(() => stage.clear());

  it('has the tokens by kind, the cost, the times and the attempts, and its cost is in the report', async () => {
    stage.provider.next(refusing(503));
    stage.providers[1]?.next((call) => {
      call.head().text('Hello').finish().write(usageChunk(USAGE)).endMarker().end();
    });
    const answer = await stream(stage.origin, { key });
    expect(await receiptOf(stage.origin, key, answer)).toEqual({
      request_id: answer.headers['x-request-id'],
      model: MODEL,
      surface: null,
      outcome: 'completed',
      finish_reason: 'stop',
      started_at: TIME,
      first_text_at: TIME,
      ended_at: TIME,
      tokens: {
        input: 100,
        cached_input: 40,
        cache_write_input: 8,
        output: 10,
        reasoning_output: 4,
        source: 'reported',
      },
      tool_calls: 0,
      cost: COST,
      currency: 'EUR',
      attempts: [
        { upstream: 'acme', code: 'upstream_unavailable', duration_ms: DURATION },
        { upstream: 'backup', duration_ms: DURATION },
      ],
    });
    const { raw } = await get(stage.origin, '/api/v1/usage', { authorization: `Bearer ${key}` });
    expect((JSON.parse(raw) as { readonly usage: unknown }).usage).toEqual([
      expect.objectContaining({
        ...{ model: MODEL, requests: 1, completed: 1, errors: 0, prompt_tokens: 100, completion_tokens: 10 },
        ...{ tokens_unknown: 0, cost: COST, currency: 'EUR' },
      }),
    ]);
  });

  it('has null for what is unknown, and marks what is estimated', async () => {
    stage.provider.next(answering('Hello'));
    const answer = await stream(stage.origin, { key });
    expect(await receiptOf(stage.origin, key, answer)).toMatchObject({
      outcome: 'completed',
      tokens: { cached_input: null, cache_write_input: null, reasoning_output: null, source: 'estimated' },
      cost: expect.any(Number) as number,
    });
  });

  it('may not be cached', async () => {
    stage.provider.next(answering('Hello'));
    const answer = await stream(stage.origin, { key });
    await receiptOf(stage.origin, key, answer);
    const { status, headers } = await receipt(stage.origin, key, answer.headers['x-request-id']);
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  });

  it('is there for a stream whose key was revoked, for another key of the account', async () => {
    stage.provider.next(beginning('Hello'));
    const [email, keys] = ['revoked@example.com', stage.service.app.get(ApiKeysService, { strict: false })];
    const [{ id, key }, other] = [await stage.service.createKey({ email }), await stage.service.createKey({ email })];
    const answer = await openStream(stage.origin, { key });
    await answer.block(1);
    await keys.revoke(id);
    await answer.over;
    expect(await receiptOf(stage.origin, other.key, answer)).toMatchObject({ outcome: 'revoked' });
  });

  it('is only for the account of the stream', async () => {
    stage.provider.next(answering('Hello'));
    const answer = await stream(stage.origin, { key });
    await receiptOf(stage.origin, key, answer);
    const other = await stage.service.createKey();
    const refused = await receipt(stage.origin, other.key, answer.headers['x-request-id']);
    expect(refused.status).toBe(404);
    expect(await refused.error()).toMatchObject({ code: 'not_found' });
    expect((await get(stage.origin, '/api/v1/usage/streams/some-id')).status).toBe(401);
  });

  it.each(['none', 'a'.repeat(2000), '%00', "' OR 1=1 --", '\u{1f600}'])('is not there for the id %j', async (id) => {
    const answer = await receipt(stage.origin, key, id);
    expect([answer.status, (await answer.error()).code]).toEqual([404, 'not_found']);
  });

  it('is not there while the stream runs', async () => {
    const latch = new Latch();
    stage.provider.next(endingAfter(latch, 'Hello'));
    const answer = await openStream(stage.origin, { key });
    await answer.block(1);
    expect((await receipt(stage.origin, key, answer.headers['x-request-id'])).status).toBe(404);
    latch.open();
    expect(await receiptOf(stage.origin, key, answer)).toMatchObject({ outcome: 'completed' });
  });

  it('is the latest of the streams with one id', async () => {
    const headers = { 'x-request-id': randomUUID() };
    for (const reason of ['length', 'stop']) {
      stage.provider.next((call) => {
        call.head().text('Hello').finish(reason).endMarker().end();
      });
      await stream(stage.origin, { key, headers });
      const isOf = atMostEvery(REQUEST_EVERY_MS, async () => {
        const { status, raw } = await receipt(stage.origin, key, headers['x-request-id']);
        return status === 200 && (JSON.parse(raw) as { finish_reason: string }).finish_reason === reason;
      });
      await waitFor(isOf, `the receipt of the answer that ended with ${reason}`);
    }
  });

  it('is looked up at most 20 times at a time', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => receipt(stage.origin, key, 'none')));
    const statuses = answers.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([404, 429]));
    const refused = answers.find(({ status }) => status === 429);
    expect(await refused?.error()).toMatchObject({ code: 'concurrency_limit_exceeded' });
    expect(refused?.headers['retry-after']).toBe('1');
  });
});

describe('the receipt of an answer of several completions', () => {
  @Controller('chapters')
  class Chapters {
    constructor(
      private readonly chat: ChatService,
      private readonly streams: StreamSender,
    ) {}

    @Post()
    async write(@Caller() caller: ChatCaller, @Res() response: Response) {
      this.streams.send(await this.chat.compose((own) => this.steps(own), caller), CHAPTERS, response);
    }

    private async *steps(caller: ChatCaller): AsyncIterable<CompletionPart> {
      const request = { model: MODEL, messages: [{ role: 'user' as const, content: 'Go on.' }] };
      await Promise.all([this.chat.complete(request, caller), this.chat.complete(request, caller)]);
      yield* await this.chat.stream(request, caller);
    }
  }
  @ChatPlugin({ name: 'chapters', compatibility: '^1', controllers: [Chapters] })
  class ChaptersPlugin {}
  const CHAPTERS: StreamFormat = {
    contentType: 'text/plain; charset=utf-8',
    part: (part) => (part.type === 'text' ? part.text : undefined),
    keepAlive: () => undefined,
    end: () => undefined,
    error: ({ code }) => code,
  };

  it('has the sum of all of them, by the id of the request', async () => {
    const stage = await setStage(1, { plugins: [ChaptersPlugin], price: PRICE, currency: 'EUR' });
    try {
      stage.provider.answers((call) => {
        call.head().text('Hello').finish().write(usageChunk(USAGE)).endMarker().end();
      });
      const answer = await stream(stage.origin, { key: stage.key, path: '/api/v1/chapters' });
      expect([answer.status, answer.raw]).toEqual([200, 'Hello']);
      await expect
        .poll(() => receiptOf(stage.origin, stage.key, answer), { interval: REQUEST_EVERY_MS, timeout: 5_000 })
        .toMatchObject({
          ...{ request_id: answer.headers['x-request-id'], outcome: 'completed', cost: COST },
          total: { completions: 3, tokens: { input: 300, output: 30 }, cost: 0.000864, currency: 'EUR' },
        });
    } finally {
      await stage.clear();
    }
  });
});

describe('the receipt of a stream whose process was killed', () => {
  it('says interrupted, and nothing that nobody knows', async () => {
    const stage = await setStage(1, { price: PRICE });
    try {
      const { app, createKey } = stage.service;
      const { key } = await createKey({ email: 'ada@example.com' });
      const account = await app.get(AccountsService, { strict: false }).findByEmail('ada@example.com');
      const started = testStartedStream({ accountId: account?.id ?? '', model: MODEL });
      await app.get(UsageStore, { strict: false }).append([interruptedRecord(started)]);
      const { status, raw } = await receipt(stage.origin, key, started.requestId);
      expect(status).toBe(200);
      expect(JSON.parse(raw)).toEqual({
        request_id: started.requestId,
        model: MODEL,
        surface: null,
        outcome: 'interrupted',
        finish_reason: null,
        started_at: TIME,
        first_text_at: null,
        ended_at: null,
        tokens: {
          input: null,
          cached_input: null,
          cache_write_input: null,
          output: null,
          reasoning_output: null,
          source: 'unknown',
        },
        tool_calls: null,
        cost: null,
        currency: null,
        attempts: [],
      });
    } finally {
      await stage.clear();
    }
  });
});
