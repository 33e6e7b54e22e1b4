import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAi } from '../../../src/testing/provider/dialects.js';
import { Latch } from '../../support/latch.js';
import type { Script } from '../../../src/testing/provider/scripted-provider.js';
import { SeparateModels, type TimeoutKind } from '../../support/separate-models.js';
import { openStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

/** In a row. */
const FAILURES_TO_OPEN = 5;

describe('a provider that fails after the first text', () => {
  let stage: Stage;

  let models: SeparateModels;

  beforeAll(async () => {
    stage = await setStage(2, { catalog: (providers) => (models = new SeparateModels(providers)) });
  });
  afterAll(() => stage.clear());

  /** The provider fails only when the client has what came before: a reset takes with it what is still on its way. */
  async function wireAfter(before: string, fail: Script, kind?: TimeoutKind) {
    const seen = new Latch();
    stage.provider.next(async (call) => {
      call.head().write(before);
      await seen.opened;
      await fail(call);
    });
    const answer = await openStream(stage.origin, { key: stage.key, body: { model: models.next(kind) } });
    await answer.block(1);
    seen.open();
    const wire = await wireOf(answer);
    expect(answer.status).toBe(200);
    expect(await answer.over).toBe('ended');
    expect(answer.raw).not.toContain('secret');
    expect(wire.rest).toBe('');
    return wire;
  }

  it.each<[string, string, Script]>([
    ['a reset', 'upstream_error', (call) => call.cut('reset')],
    ['a closed connection', 'upstream_error', (call) => call.cut('fin')],
    [
      'the end of the body without an end marker',
      'upstream_error',
      (call) => {
        call.end();
      },
    ],
    [
      'an error event',
      'upstream_error',
      (call) => {
        call.failure('server_error', 'secret').end();
      },
    ],
    [
      'an error event about an overload',
      'upstream_unavailable',
      (call) => {
        call.failure('overloaded_error').end();
      },
    ],
    [
      'an error event about the request',
      'upstream_rejected',
      (call) => {
        call.failure('invalid_request_error').end();
      },
    ],
    [
      'a finish that is a failure',
      'upstream_error',
      (call) => {
        call.finish('error').endMarker().end();
      },
    ],
    [
      'an event that is not JSON',
      'upstream_error',
      (call) => {
        call.write('data: secret\n\n').endMarker().end();
      },
    ],
    [
      'a chunk that is cut off',
      'upstream_error',
      (call) => {
        call.write('data: {"choices":[{"del').end();
      },
    ],
  ])('by %s is reported last, as %s, after all that came', async (_, code, fail) => {
    const wire = await wireAfter(openAi.text('Hel') + openAi.text('lo'), fail);

    expect(wire).toMatchObject({ text: 'Hello', terminal: code });
  });

  it('by silence is reported last, as upstream_timeout, after all that came', async () => {
    const wire = await wireAfter(openAi.text('Hel') + openAi.text('lo'), () => undefined, 'shortAfterText');

    expect(wire).toMatchObject({ text: 'Hello', terminal: 'upstream_timeout' });
  });

  it('is never followed by the next provider', async () => {
    const [, backup] = stage.providers;
    const wire = await wireAfter(openAi.text('Hi'), (call) => call.cut());
    expect(wire).toMatchObject({ text: 'Hi', terminal: 'upstream_error' });
    expect(backup?.calls).toEqual([]);
  });

  it('keeps the answer whole when the connection breaks between the finish reason and the end marker', async () => {
    const breaks: Script[] = [
      (call) => call.cut('reset'),
      (call) => call.cut('fin'),
      (call) => {
        call.end();
      },
      () => undefined,
    ];
    for (const script of breaks) {
      const wire = await wireAfter(openAi.text('Hi') + openAi.finish('stop'), script);
      expect(wire).toMatchObject({ text: 'Hi', terminal: 'done' });
    }
  });

  it('keeps the answer whole when the connection breaks within an event after the finish reason', async () => {
    const wire = await wireAfter(openAi.text('Hi') + openAi.finish('stop'), (call) => {
      call.write('data: {"choices":[],"usa').end();
    });
    expect(wire).toMatchObject({ text: 'Hi', terminal: 'done' });
  });

  it('keeps the answer whole when it was cut by the limit of tokens', async () => {
    const wire = await wireAfter(openAi.text('Hi'), (call) => {
      call.finish('length').endMarker().end();
    });
    expect(wire).toMatchObject({ text: 'Hi', terminal: 'done' });
  });
});

describe('providers that fail after the first text', () => {
  it('are passed over once that has happened to several answers in a row', async () => {
    const stage = await setStage(2);
    const seen = new Latch();
    stage.provider.answers(async (call) => {
      call.head().text('Hi');
      await seen.opened;
      await call.cut();
    });
    // All at once: the first text of a later one would show the provider alive.
    const answers = await Promise.all(
      Array.from({ length: FAILURES_TO_OPEN }, () => openStream(stage.origin, { key: stage.key })),
    );
    await Promise.all(answers.map((answer) => answer.block(1)));
    seen.open();
    for (const answer of answers) expect((await wireOf(answer)).terminal).toBe('upstream_error');

    const next = await wireOf(await openStream(stage.origin, { key: stage.key }));

    expect(next).toMatchObject({ text: 'Hello world', terminal: 'done' });
    expect(stage.providers.map(({ calls }) => calls.length)).toEqual([FAILURES_TO_OPEN, 1]);
    await stage.clear();
  });
});
