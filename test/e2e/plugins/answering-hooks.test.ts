import { Logger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ResponseCachePlugin } from '../../../examples/src/response-cache.plugin.js';
import type { CompletionHook } from '../../../src/chat/hooks/completion-hook.js';
import { ChatPlugin } from '../../../src/plugin-api/chat-plugin.decorator.js';
import { ServiceError } from '../../../src/platform/common/service-error.js';
import type { CompletionPart } from '../../../src/upstreams/contract/stream-part.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { MODEL } from '../../support/catalog.js';
import { openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

const PRICE = { input_per_million: 1_000, output_per_million: 1_000 };

let stage: Stage;
afterEach(() => stage.clear());

const answerOf = async (body = {}) => wireOf(await openStream(stage.origin, { key: stage.key, body }));

describe('a cache of answers', () => {
  const records: UsageRecord[] = [];
  const staged = async (amount: number) => {
    records.length = 0;
    stage = await setStage(1, {
      plugins: [ResponseCachePlugin],
      pluginConfigs: { 'response-cache': { models: [MODEL] } },
      price: PRICE,
      tiers: { free: { budget: { amount, currency: 'USD', per: 'day' }, max_tokens: 10 } },
      records,
    });
  };

  it('answers a repeated request without the provider, and costs nothing', async () => {
    // Too little for a second answer of the model.
    await staged(0.02);
    const first = await answerOf();
    expect(first).toMatchObject({ text: 'Hello world', terminal: 'done' });
    expect(await answerOf()).toEqual(first);
    expect(stage.provider.calls).toHaveLength(1);
    expect(records.map(({ upstream, outcome, costMicros }) => ({ upstream, outcome, free: costMicros === 0 }))).toEqual(
      [
        { upstream: 'acme', outcome: 'completed', free: false },
        { upstream: 'ResponseCache', outcome: 'completed', free: true },
      ],
    );
    expect(records[1]?.attempts).toMatchObject([{ upstream: 'ResponseCache', code: undefined }]);
    expect(records[1]?.outputTokens).toEqual(records[0]?.outputTokens);
  });

  it('asks the provider for another request, and after an answer that was not complete', async () => {
    await staged(1);
    stage.provider.next((call) => {
      call.head().text('Hel').end();
    });
    expect(await answerOf()).toMatchObject({ text: 'Hel', terminal: 'upstream_error' });
    expect(await answerOf()).toMatchObject({ text: 'Hello world', terminal: 'done' });
    expect(await answerOf({ max_tokens: 5 })).toMatchObject({ terminal: 'done' });
    expect(stage.provider.calls).toHaveLength(3);
  });
});

describe('a hook that answers', () => {
  const staged = async (answer: CompletionHook['answer']) => {
    class Answering {
      answer = answer;
    }
    @ChatPlugin({ name: 'answering', compatibility: '^1', completionHooks: [Answering as new () => CompletionHook] })
    class Plugin {}
    stage = await setStage(1, { plugins: [Plugin] });
  };
  async function* parts(...given: readonly CompletionPart[]): AsyncIterable<CompletionPart> {
    await Promise.resolve();
    yield* given;
  }

  it('answers only for a model that the caller may use', async () => {
    await staged(() => parts({ type: 'text', text: 'Hi' }, { type: 'finish', reason: 'stop', raw: 'stop' }));
    expect(await answerOf()).toMatchObject({ text: 'Hi', terminal: 'done' });
    const { status } = await stream(stage.origin, { key: stage.key, body: { model: 'acme/unknown' } });
    expect(status).toBe(404);
  });

  it('can refuse, and an answer without its end is not complete', async () => {
    await staged(({ max_tokens: tokens }) => {
      if (tokens === 1) throw new ServiceError('content_filtered', 'No.');
      return parts({ type: 'text', text: 'Hi' });
    });
    const refused = await stream(stage.origin, { key: stage.key, body: { max_tokens: 1 } });
    expect(await refused.error()).toMatchObject({ code: 'content_filtered' });
    const warned = vi.spyOn(Logger.prototype, 'warn');
    expect(await answerOf()).toMatchObject({ text: 'Hi', terminal: 'upstream_error' });
    expect(warned).toHaveBeenCalledWith(expect.objectContaining({ hook: 'Answering' }));
    expect(stage.provider.calls).toHaveLength(0);
  });
});
