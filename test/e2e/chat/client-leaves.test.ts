import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ScriptedProvider, Script } from '../../../src/testing/provider/scripted-provider.js';
import { answering, beginning } from '../../support/scripts.js';
import { openStream, startStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

const hang: Script = () => undefined;

describe('a client that leaves', () => {
  let stage: Stage;
  let backup: ScriptedProvider;

  beforeAll(async () => {
    stage = await setStage(2, { tiers: { free: { concurrent_streams: 1 } } });
    [, backup] = stage.providers as [ScriptedProvider, ScriptedProvider];
    stage.provider.closesConnections();
  });
  afterAll(() => stage.clear());

  /** The provider is let go at once, and the account may start its next stream. */
  async function expectRelease(provider: ScriptedProvider, number: number, leave: () => void): Promise<void> {
    const call = await provider.call(number);
    leave();
    await call.over;
    expect(call.abortedAt).toBeDefined();
    await stage.service.leftovers.none();
    const next = await wireOf(await openStream(stage.origin, { key: stage.key }));
    expect(next).toMatchObject({ text: 'Hello world', terminal: 'done' });
  }

  const nextCall = (provider: ScriptedProvider) => provider.calls.length + 1;

  it('before the provider answers has its request aborted, and no request is sent to the second', async () => {
    const before = backup.calls.length;
    const number = nextCall(stage.provider);
    stage.provider.next(hang);
    const { leave } = startStream(stage.origin, { key: stage.key });
    await expectRelease(stage.provider, number, leave);
    expect(backup.calls.length).toBe(before);
  });

  it('before the first token has its request aborted', async () => {
    const number = nextCall(stage.provider);
    stage.provider.next((call) => {
      call.head().reasoning('Hm.');
    });
    const { leave } = startStream(stage.origin, { key: stage.key });
    await expectRelease(stage.provider, number, leave);
  });

  it('in the middle of the stream has its request aborted', async () => {
    const number = nextCall(stage.provider);
    stage.provider.next(beginning('Hi'));
    const errors = vi.spyOn(Logger.prototype, 'error');
    const answer = await openStream(stage.origin, { key: stage.key });
    await answer.block(1);
    await expectRelease(stage.provider, number, () => {
      answer.leave();
    });
    expect(errors).not.toHaveBeenCalled();
    errors.mockRestore();
  });

  it('while the request to the second provider runs has that request aborted, and no other is sent', async () => {
    const number = nextCall(backup);
    stage.provider.next((call) => call.cut());
    backup.next(hang);
    const { leave } = startStream(stage.origin, { key: stage.key });
    await expectRelease(backup, number, leave);
    expect(backup.calls.length).toBe(number);
  });

  it('leaves nothing behind, a hundred times', async () => {
    stage.provider.answers(beginning('Hi'));
    const others = await Promise.all(Array.from({ length: 20 }, () => stage.service.createKey()));
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(others.map(({ key }) => openStream(stage.origin, { key })));
      expect(answers.map(({ status }) => status)).toEqual(others.map(() => 200));
      for (const answer of answers) answer.leave();
      await Promise.all(stage.provider.calls.map(({ over }) => over));
      await stage.service.leftovers.none();
    }
    stage.provider.answers(answering('Hi'));
    const after = await Promise.all(others.map(async ({ key }) => wireOf(await openStream(stage.origin, { key }))));
    expect(after.map(({ text, terminal }) => ({ text, terminal }))).toEqual(
      others.map(() => ({ text: 'Hi', terminal: 'done' })),
    );
  });
});

const CLIENTS = 400;
/** Longer than a request takes until its first text. */
const LEAVES_WITHIN_MS = 25;

describe('many clients that leave at any moment', () => {
  it('leave no completion behind', async () => {
    const stage = await setStage();
    stage.provider.answers(beginning('Hi'));
    for (let left = 0; left < CLIENTS; left += 20) {
      const clients = Array.from({ length: 20 }, () => startStream(stage.origin, { key: stage.key }));
      const delays = clients.map((_, index) => (index * LEAVES_WITHIN_MS) / clients.length);
      await Promise.all(
        clients.map(async ({ leave }, index) => {
          await new Promise((resolve) => setTimeout(resolve, delays[index]));
          leave();
        }),
      );
    }
    await stage.service.leftovers.none();
    await Promise.all(stage.provider.calls.map(({ over }) => over));
    await stage.clear();
  });
});
