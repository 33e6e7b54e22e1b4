import { afterEach, describe, expect, it } from 'vitest';
import { ClientConnections } from '../../src/platform/http/connections/client-connections.js';
import { Latch } from '../support/latch.js';
import { openStream, stream } from '../support/sse-client.js';
import { setStage, type Stage } from '../support/stage.js';
import { muchText, sendMuch } from '../support/unread.js';
import { standsStill, waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';

const MIB = 1024 * 1024;
/** About 44 MB: more than all buffers of the kernel on the way. */
const PIECES = 5_000;
const QUIET_MS = 300;

describe('a client that does not read', () => {
  const clearing: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const clear of clearing.splice(0).reverse()) await clear();
  });

  async function staged(options: Parameters<typeof setStage>[1] = {}): Promise<Stage> {
    const stage = await setStage(1, options);
    clearing.push(() => stage.clear());
    stage.provider.answers((call) => sendMuch(call, PIECES));
    return stage;
  }

  it('holds the provider back, and gets the whole text once it reads on', async () => {
    const stage = await staged();
    const answer = await openStream(stage.origin, { key: stage.key });
    answer.pause();
    const call = await stage.provider.call(1);

    const taken = await standsStill(() => call.bytesWritten, QUIET_MS);
    expect(taken).toBeLessThan(20 * MIB);

    answer.resume();
    const { text, terminal } = await wireOf(answer);
    expect(terminal).toBe('done');
    expect(text === muchText(PIECES)).toBe(true);
  });

  it('is dropped after a while also when nothing but the end of the stream is unread', async () => {
    const stage = await staged({ env: { STALLED_READER_SECONDS: '1' }, tiers: { free: { concurrent_streams: 1 } } });
    const seen = new Latch();
    stage.provider.answers(async (call) => {
      call.head().text('Hi');
      await seen.opened;
      call.finish().endMarker().end();
    });
    const answer = await openStream(stage.origin, { key: stage.key });
    await answer.block(1);
    // As if the buffers of the operating system were full.
    const [connection] = stage.service.app.get(ClientConnections, { strict: false }).all();
    const hang = () => undefined;
    Object.assign(connection?.socket ?? {}, { _write: hang, _writev: hang });

    seen.open();

    expect(await answer.over).toBe('cut');
    expect(answer.raw).not.toContain('"done":true');
  });

  it('is dropped after a while, with what it held', async () => {
    const stage = await staged({ env: { STALLED_READER_SECONDS: '1' }, tiers: { free: { concurrent_streams: 1 } } });
    const answer = await openStream(stage.origin, { key: stage.key });
    answer.pause();
    const call = await stage.provider.call(1);

    await call.over;

    expect(call.abortedAt).toBeDefined();
    stage.provider.answers((next) => {
      next.answer('Hi');
    });
    await waitFor(async () => (await stream(stage.origin, { key: stage.key })).status === 200, 'the slot to come free');
    answer.resume();
    expect(await answer.over).toBe('cut');
    expect(answer.raw).not.toContain('"done":true');
  });
});
