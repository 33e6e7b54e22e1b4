import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesTo } from '../../support/catalog.js';
import type { Script } from '../../../src/testing/provider/scripted-provider.js';
import { refusing } from '../../support/scripts.js';
import { SeparateModels, type TimeoutKind } from '../../support/separate-models.js';
import { startService } from '../../support/service.js';
import { startSilentServer } from '../../support/silent-server.js';
import { stream, type ReceivedStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { readWire } from '../../support/wire.js';

/** Ten steps take longer than an upstream with medium timeouts may be idle. */
const STEP_MS = 250;
const hang: Script = (call) => {
  call.head();
};

async function expectFailure(answer: ReceivedStream, status: number, code: string): Promise<void> {
  const error = await answer.error();
  expect({ status: answer.status, code: error.code }).toEqual({ status, code });
  expect(answer.raw).not.toContain('secret');
}

describe('a provider that fails before any text', () => {
  let stage: Stage;
  let models: SeparateModels;

  beforeAll(async () => {
    stage = await setStage(1, { catalog: (providers) => (models = new SeparateModels(providers)) });
    stage.provider.closesConnections();
  });
  afterAll(() => stage.clear());

  const answerTo = (script: Script, kind?: TimeoutKind) => {
    stage.provider.next(script);
    return stream(stage.origin, { key: stage.key, body: { model: models.next(kind) } });
  };

  it.each([
    [400, 400, 'upstream_rejected'],
    [413, 400, 'upstream_rejected'],
    [422, 400, 'upstream_rejected'],
    [401, 502, 'upstream_error'],
    [403, 502, 'upstream_error'],
    [404, 502, 'upstream_error'],
    [302, 502, 'upstream_error'],
    [500, 502, 'upstream_error'],
    [502, 502, 'upstream_error'],
    [429, 503, 'upstream_unavailable'],
    [503, 503, 'upstream_unavailable'],
    [529, 503, 'upstream_unavailable'],
  ])('by status %i is reported as %i %s', async (providerStatus, status, code) => {
    await expectFailure(await answerTo(refusing(providerStatus)), status, code);
  });

  it.each([429, 503, 529])('by status %i has its Retry-After passed on', async (status) => {
    const seconds = await answerTo(refusing(status, { 'retry-after': '7' }));
    expect(seconds.headers['retry-after']).toBe('7');
    const moment = new Date(Date.now() + 30_000).toUTCString();
    const date = await answerTo(refusing(status, { 'retry-after': moment }));
    expect(Number(date.headers['retry-after'])).toBeGreaterThanOrEqual(28);
    expect(Number(date.headers['retry-after'])).toBeLessThanOrEqual(30);
    const nonsense = await answerTo(refusing(status, { 'retry-after': 'soon' }));
    expect(nonsense.headers['retry-after']).toBeUndefined();
  });

  it.each<[string, Script]>([
    ['a reset before any answer', (call) => call.cut('reset')],
    ['a closed connection before any answer', (call) => call.cut('fin')],
    ['a reset after the headers', (call) => call.head().cut('reset')],
    ['a closed connection after the headers', (call) => call.head().cut('fin')],
    [
      'a body that ends at once',
      (call) => {
        call.head().end();
      },
    ],
    [
      'an end without its marker after thinking',
      (call) => {
        call.head().reasoning('Hm.').end();
      },
    ],
    [
      'bytes that are not HTTP',
      (call) => {
        call.garbage('SSH-2.0-OpenSSH_9.6\r\n');
      },
    ],
    [
      'events that are not JSON',
      (call) => {
        call.head().write('data: nonsense\n\n');
      },
    ],
    [
      'an event that is HTML',
      (call) => {
        call.head().write('data: <html>\n\n');
      },
    ],
    ['JSON instead of a stream', refusing(200, {}, '{"status":"secret"}')],
    ['HTML instead of a stream', refusing(200, { 'content-type': 'text/html' }, '<html>secret</html>')],
    [
      'no content',
      (call) => {
        call.head(204).end();
      },
    ],
    [
      'an error event',
      (call) => {
        call.head().failure('server_error', 'secret');
      },
    ],
    [
      'an event of 9 MiB',
      (call) => {
        call.head().write(`data: ${'x'.repeat(9 * 1024 * 1024)}`);
      },
    ],
  ])('by %s is reported as 502 upstream_error', async (_, script) => {
    await expectFailure(await answerTo(script), 502, 'upstream_error');
  });

  it('by an error event that names an overload is reported as 503', async () => {
    const answer = await answerTo((call) => {
      call.head().failure('overloaded_error', 'secret');
    });
    await expectFailure(answer, 503, 'upstream_unavailable');
  });

  it.each<[string, Script]>([
    ['no answer at all', () => undefined],
    ['headers and then nothing', hang],
    [
      'comments only',
      async (call) => {
        call.head();
        while (call.abortedAt === undefined) {
          call.write(': processing\n\n');
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      },
    ],
  ])('by %s for too long is reported as 504', async (_, script) => {
    await expectFailure(await answerTo(script, 'short'), 504, 'upstream_timeout');
    const call = stage.provider.calls.at(-1);
    await call?.over;
    expect(call?.abortedAt).toBeDefined();
  });

  it('waits on while the model thinks', async () => {
    const answer = await answerTo(async (call) => {
      call.head();
      for (let step = 0; step < 10; step++) {
        call.reasoning('Hm.');
        await new Promise((resolve) => setTimeout(resolve, STEP_MS));
      }
      call.text('Yes').finish().endMarker().end();
    }, 'medium');
    expect(readWire(answer.raw)).toMatchObject({ text: 'Yes', terminal: 'done' });
  });

  it('serves the next request as if nothing had been', async () => {
    const model = models.next();
    stage.provider.next((call) => call.cut('reset'));
    await stream(stage.origin, { key: stage.key, body: { model } });

    const answer = await stream(stage.origin, { key: stage.key, body: { model } });

    expect(readWire(answer.raw)).toMatchObject({ text: 'Hello world', terminal: 'done' });
  });
});

describe('a provider that cannot be reached', () => {
  it('is reported as 502 upstream_error when its name is unknown', async () => {
    const service = await startService(routesTo(['http://nobody.invalid']));
    const { key } = await service.createKey();
    await expectFailure(await stream(service.origin, { key }), 502, 'upstream_error');
    await service.stop();
  });

  it('is reported as 504 upstream_timeout when no connection opens in time', async () => {
    const silent = await startSilentServer();
    const service = await startService(routesTo([`https://${silent.authority}`], { connect_ms: 200 }));
    const { key } = await service.createKey();
    await expectFailure(await stream(service.origin, { key }), 504, 'upstream_timeout');
    await service.stop();
    await silent.stop();
  });
});
