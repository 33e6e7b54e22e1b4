import { Controller, Post } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  Caller,
  ChatPlugin,
  ChatService,
  LimitedByTier,
  type ChatCaller,
  type ChatRequest,
  type CompletionHook,
} from '../../../src/index.js';
import { configFor, createTestService, ScriptedProvider, TEST_MODEL, type TestService } from '../../../src/testing.js';
import { Latch } from '../../support/latch.js';
import { answering } from '../../support/scripts.js';
import { startStream, stream } from '../../support/sse-client.js';

let between: Latch;
let reached: Latch;

/** Asks the model twice, and waits in between. */
@Controller('chains')
@LimitedByTier()
class Chain {
  constructor(private readonly chat: ChatService) {}

  @Post()
  async run(@Caller() caller: ChatCaller) {
    const messages = [{ role: 'user' as const, content: 'Go on.' }];
    const first = await this.chat.complete({ model: TEST_MODEL, messages }, caller);
    reached.open();
    await between.opened;
    const second = await this.chat.complete({ model: TEST_MODEL, messages }, caller);
    return { texts: [first.text, second.text] };
  }
}

/** Waits before the model is asked, and asks the model itself for requests that say so. */
class Slow implements CompletionHook {
  async transformRequest(asked: ChatRequest): Promise<ChatRequest> {
    if (asked.messages[0]?.content !== 'slowly') return asked;
    reached.open();
    await between.opened;
    return asked;
  }
}

@ChatPlugin({ name: 'chain', compatibility: '^1', controllers: [Chain], completionHooks: [Slow] })
class Plugin {}

describe('a request that was admitted before the service begins to drain', () => {
  let provider: ScriptedProvider;
  let service: TestService;
  let key: string;
  let origin: string;

  async function chain(): Promise<{ status: number; body: unknown }> {
    const received = await startStream(origin, { key, path: '/api/v1/chains', body: '{}' }).answer;
    return { status: received.status, body: JSON.parse(await received.body()) as unknown };
  }

  const begin = async (env: Record<string, string> = {}): Promise<void> => {
    service = await createTestService({ plugins: [Plugin], config: configFor(provider), env });
    ({ origin } = service);
    ({ key } = await service.createKey());
  };

  beforeEach(async () => {
    between = new Latch();
    reached = new Latch();
    provider = await ScriptedProvider.start();
    provider.answers(answering('Yes.'));
  });
  afterEach(async () => {
    between.open();
    await provider.stop();
  });

  it('begins its next completions, and the drain waits for it', async () => {
    await begin();
    const answer = chain();
    await reached.opened;
    let isDrained = false;
    const drained = service.drain().then(() => (isDrained = true));

    const refused = await stream(origin, { key, body: { model: TEST_MODEL } });
    expect(refused.status).toBe(503);
    expect((await refused.error()).code).toBe('shutting_down');
    expect(isDrained).toBe(false);

    between.open();
    expect(await answer).toEqual({ status: 201, body: { texts: ['Yes.', 'Yes.'] } });
    await drained;
  });

  it('is asked of the model after a slow hook', async () => {
    await begin();
    const body = { model: TEST_MODEL, messages: [{ role: 'user', content: 'slowly' }] };
    const { answer } = startStream(origin, { key, body });
    await reached.opened;
    const drained = service.drain();
    between.open();

    const received = await answer;
    expect(received.status).toBe(200);
    expect(await received.body()).toContain('"done":true');
    await drained;
  });

  it('begins none after the grace', async () => {
    await begin({ SHUTDOWN_GRACE_SECONDS: '1' });
    const answer = chain();
    await reached.opened;
    const drained = service.drain();
    setTimeout(() => {
      between.open();
    }, 1_200);

    expect(await answer).toMatchObject({ status: 503, body: { error: { code: 'shutting_down' } } });
    await drained;
    expect(provider.calls).toHaveLength(1);
  });
});
