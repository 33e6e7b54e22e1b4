import { expect } from 'vitest';
import { durableWireOf, resume, streamIdOf } from '../support/durable.js';
import { openStream, type ReceivedStream } from '../support/sse-client.js';
import { notWithin, serving, type Effects, type Served } from './effect.js';
import { inMovedTime, type MovedTime } from '../support/moved-time.js';

const MIB = 1024 * 1024;
/** Below the largest event of a provider. */
const PIECE = 'x'.repeat(MIB / 2);
/** A stream that has ended is dropped within this time after its retention, and readers are counted as often. */
const CHECK_MS = 1_100;

/** How durable streams are kept. */
export const durable: Effects = {
  STREAM_RETENTION_SECONDS: {
    set: () => isKept({ STREAM_RETENTION_SECONDS: '7' }, 7_000),
    unset: () => isKept({}, 300_000),
    refused: notWithin('STREAM_RETENTION_SECONDS', 1, 86_400, '5m'),
  },
  STREAM_DETACHED_SECONDS: {
    refused: notWithin('STREAM_DETACHED_SECONDS', 1, 86_400, '-1'),
  },
  STREAM_MEMORY_MB: {
    set: () => holds({ STREAM_MEMORY_MB: '3' }, 3 * MIB),
    unset: () => holds({}, 64 * MIB),
    refused: notWithin('STREAM_MEMORY_MB', 1, 1_048_576, '64MB'),
  },
};

type Variables = Readonly<Record<string, string>>;

const ask = ({ origin, key }: Served): Promise<ReceivedStream> =>
  openStream(origin, { key, headers: { 'idempotency-key': 'one' } });

function inTime(env: Variables, use: (served: Served, time: MovedTime) => Promise<void>): Promise<void> {
  return inMovedTime((time) => serving({ env }, (served) => use(served, time)));
}

function isKept(env: Variables, keptMs: number): Promise<void> {
  return inTime(env, async (served, time) => {
    const first = await ask(served);
    await first.over;
    const again = async (): Promise<number> => {
      const answer = await resume(served.origin, streamIdOf(first), { key: served.key });
      await answer.over;
      return answer.status;
    };

    await time.move(keptMs * 0.8);
    expect(await again()).toBe(200);
    await time.move(keptMs * 0.2 + CHECK_MS);

    expect(await again()).toBe(404);
  });
}

function holds(env: Variables, bytes: number): Promise<void> {
  return serving({ env }, async (served) => {
    served.provider.answers(async (call) => {
      call.head();
      for (let sent = 0; sent < 2 * bytes && call.abortedAt === undefined; sent += PIECE.length) {
        call.text(PIECE);
        await call.drained();
      }
    });
    const first = await ask(served);
    await first.block(1);
    first.leave();
    await (
      await served.provider.call(1)
    ).over;

    const kept = await durableWireOf(await resume(served.origin, streamIdOf(first), { key: served.key }));

    expect(kept.terminal).toBe('unavailable');
    expect(kept.text.length).toBeLessThanOrEqual(bytes);
    expect(kept.text.length).toBeGreaterThan(bytes - 2 * PIECE.length);
  });
}
