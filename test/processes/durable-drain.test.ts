import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { durableWireOf, resume, streamIdOf } from '../support/durable.js';
import { Latch } from '../support/latch.js';
import { Installation } from '../support/process.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { openStream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';

const HALF = 'One half, ';
const REST = 'and the other half.';

describe('a single process that stops', () => {
  let provider: ScriptedProvider;
  let installation: Installation;
  let key: string;

  beforeEach(async () => {
    provider = await ScriptedProvider.start();
    installation = await Installation.create(configFile(routesTo([provider])));
    ({ key } = await installation.createKey());
  });
  afterEach(async () => {
    await installation.remove();
    await provider.stop();
  });

  it('finishes its durable streams for their readers, also for those that come again, and starts no new ones', async () => {
    const latch = new Latch();
    provider.answers(async (call) => {
      call.head().text(HALF);
      await latch.opened;
      call.text(REST).finish().endMarker().end();
    });
    const service = installation.start();
    const origin = await service.origin();
    const ask = (name: string) => openStream(origin, { key, headers: { 'idempotency-key': name } });
    const first = await ask('drained');
    await first.block(1);

    service.signal('SIGTERM');
    await waitFor(() => service.stdout.includes('waiting for running streams'), 'the signal to arrive');
    const again = await resume(origin, streamIdOf(first), { key });
    const refused = await ask('new');
    latch.open();

    for (const reader of [first, again]) {
      expect(await durableWireOf(reader)).toMatchObject({ text: HALF + REST, terminal: 'done' });
    }
    expect([refused.status, (await refused.error()).code]).toEqual([503, 'shutting_down']);
    expect((await service.exited).code).toBe(0);
  });
});
