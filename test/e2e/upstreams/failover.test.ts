import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { routesTo } from '../../support/catalog.js';
import { ScriptedProvider, type Script } from '../../../src/testing/provider/scripted-provider.js';
import { answering, refusing } from '../../support/scripts.js';
import { SeparateModels, type TimeoutKind } from '../../support/separate-models.js';
import { startService } from '../../support/service.js';
import { closedPort } from '../../support/silent-server.js';
import { openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

const FAILURES_BEFORE_TEXT: [string, Script, TimeoutKind?][] = [
  ['resets the connection', (call) => call.cut('reset')],
  ['answers 500', refusing(500)],
  ['answers 429', refusing(429, { 'retry-after': '60' })],
  ['refuses our key', refusing(401)],
  ['never answers', () => undefined, 'short'],
  [
    'sends an error event',
    (call) => {
      call.head().failure('overloaded_error');
    },
  ],
  ['breaks off after thinking', (call) => call.head().reasoning('Hm.').cut()],
  [
    'ends without any text',
    (call) => {
      call.head().end();
    },
  ],
];

describe('failover', () => {
  let stage: Stage;
  let backup: ScriptedProvider;
  let spare: ScriptedProvider;
  let models: SeparateModels;

  beforeAll(async () => {
    stage = await setStage(3, { catalog: (providers) => (models = new SeparateModels(providers)) });
    for (const provider of stage.providers) provider.closesConnections();
    [, backup, spare] = stage.providers as [ScriptedProvider, ScriptedProvider, ScriptedProvider];
  });
  beforeEach(() => {
    for (const { calls } of stage.providers) calls.length = 0;
  });
  afterAll(() => stage.clear());

  const asking = (model = models.next()) => ({ key: stage.key, body: { model } });
  const asked = () => stage.providers.map(({ calls }) => calls.length);

  it.each(FAILURES_BEFORE_TEXT)('goes on to the next route when the first provider %s', async (_, fail, kind) => {
    stage.provider.next(fail);
    backup.next(answering('Here ', 'I am'));

    const answer = await openStream(stage.origin, asking(models.next(kind)));

    expect(answer.status).toBe(200);
    expect(await wireOf(answer)).toMatchObject({ text: 'Here I am', terminal: 'done' });
    expect(asked()).toEqual([1, 1, 0]);
    expect(backup.calls[0]?.json).toMatchObject({ model: 'backup-model' });
    expect(backup.calls[0]?.headers.authorization).toBe('Bearer secret-of-backup');
  });

  it('tries all routes, and reports the last failure when all fail', async () => {
    stage.provider.next(refusing(500));
    backup.next((call) => call.cut());
    spare.next(refusing(429, { 'retry-after': '9' }));

    const answer = await stream(stage.origin, asking());

    expect(answer.status).toBe(503);
    expect((await answer.error()).code).toBe('upstream_unavailable');
    expect(answer.headers['retry-after']).toBe('9');
    expect(asked()).toEqual([1, 1, 1]);
  });
});

describe('failover from a provider that refuses the connection', () => {
  it('goes on to the next route', async () => {
    const backup = await ScriptedProvider.start();
    const service = await startService(routesTo([`http://127.0.0.1:${await closedPort()}`, backup]));
    const { key } = await service.createKey();

    expect(await wireOf(await openStream(service.origin, { key }))).toMatchObject({ terminal: 'done' });
    await service.stop();
    await backup.stop();
  });
});
