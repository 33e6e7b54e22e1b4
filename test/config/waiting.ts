import { expect } from 'vitest';
import { ClientConnections } from '../../src/platform/http/connections/client-connections.js';
import { getRequest, RawConnection } from '../hostile/support/raw-connection.js';
import { scrape, valueOf } from '../support/metrics.js';
import { openStream } from '../support/sse-client.js';
import { sendMuch } from '../support/unread.js';
import { standsStill, waitFor } from '../support/wait-for.js';
import { notWithin, serving, type Effects, type Served } from './effect.js';
import { inMovedTime, type MovedTime } from '../support/moved-time.js';

const QUIET_MS = 100;
/** As {@link LARGE} many times, more than all buffers of the kernel on the way. */
const PIECES = 5_000;
const LARGE = getRequest('/api/docs/swagger-ui-bundle.js');
/** The provider may be silent for as long as it likes. */
const PATIENT = { timeouts: { idle_ms: 86_400_000 } };
/** Answers are looked at once a second. */
const CHECK_MS = 1_100;

/** How long the service waits for those who do not go on. */
export const waiting: Effects = {
  SHUTDOWN_GRACE_SECONDS: {
    refused: notWithin('SHUTDOWN_GRACE_SECONDS', 0, 86_400, 'a minute'),
  },
  STALLED_READER_SECONDS: {
    set: () => cutsStream({ STALLED_READER_SECONDS: '40' }, 40_000),
    unset: () => cutsStream({}, 300_000),
    refused: notWithin('STALLED_READER_SECONDS', 1, 86_400, '1.5'),
  },
  UNREAD_ANSWER_SECONDS: {
    set: () => cutsAnswer({ UNREAD_ANSWER_SECONDS: '5' }, 5_000),
    unset: () => cutsAnswer({}, 30_000),
    refused: notWithin('UNREAD_ANSWER_SECONDS', 1, 86_400, '-5'),
  },
};

type Variables = Readonly<Record<string, string>>;

function inTime(env: Variables, use: (served: Served, time: MovedTime) => Promise<void>): Promise<void> {
  return inMovedTime((time) => serving({ env, upstream: PATIENT }, (served) => use(served, time)));
}

/** The margin is for the time that passes by itself. */
const before = (limitMs: number): number => limitMs * 0.6;

function cutsStream(env: Variables, limitMs: number): Promise<void> {
  return inTime(env, async ({ origin, key, provider }, time) => {
    provider.answers((call) => sendMuch(call, PIECES));
    const answer = await openStream(origin, { key });
    answer.pause();
    const call = await provider.call(1);
    await standsStill(() => call.bytesWritten, QUIET_MS);

    await time.move(before(limitMs));
    expect(call.abortedAt).toBeUndefined();
    await time.move(limitMs - before(limitMs));

    await call.over;
    expect(call.abortedAt).toBeDefined();
    answer.leave();
  });
}

function cutsAnswer(env: Variables, limitMs: number): Promise<void> {
  return inTime({ METRICS_PORT: '0', ...env }, async ({ origin, service }, time) => {
    const connection = (await RawConnection.open(origin)).send(LARGE.repeat(20));
    connection.socket.pause();
    const sockets = () => [...service.app.get(ClientConnections, { strict: false }).all()].map(({ socket }) => socket);
    await waitFor(() => sockets().some(({ writableLength }) => writableLength > 0), 'an unread answer');
    await standsStill(() => sockets().reduce((sum, { writableLength }) => sum + writableLength, 0), QUIET_MS);
    const cut = async () => valueOf(await scrape(service), 'chat_shed_total', { reason: 'unread_answer' });
    await time.move(CHECK_MS);

    await time.move(before(limitMs));
    expect(await cut()).toBe(0);
    await time.move(limitMs - before(limitMs) + CHECK_MS);

    expect(await cut()).toBe(1);
    connection.leave();
  });
}
