import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Latch } from '../support/latch.js';
import { get, openStream, type ReceivedStream } from '../support/sse-client.js';
import { atMostEvery, waitFor } from '../support/wait-for.js';
import { Replicas, type Replica } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();

/** A replica without heartbeats counts as dead after 60 s. What is known sooner is known by the closed connection. */
const SOONER_MS = 20_000;
/** Longer than a replica must have been connected itself before it judges others. */
const SETTLED_MS = 5_000;
/** An account can request 60 receipts a minute. */
const REQUEST_EVERY_MS = 500;
const on = (host: string) => ({
  NODE_OPTIONS: `--import ${new URL('support/other-host.mjs', import.meta.url).href}`,
  HOST_NAME: host,
});

describe.skipIf(stores === undefined)('the receipt of a stream on another host', () => {
  let replicas: Replicas;
  let owner: Replica;
  let witness: Replica;
  let finish: Latch;

  beforeEach(async () => {
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { envs: [on('one'), on('two')], count: 2 });
    [owner, witness] = replicas.all as [Replica, Replica];
    finish = new Latch();
    replicas.provider.answers(async (call) => {
      call.head().text('On and on');
      await finish.opened;
      call.finish().endMarker().end();
    });
    const startedAt = performance.now();
    await waitFor(() => performance.now() - startedAt > SETTLED_MS, 'the replicas to be connected for long enough');
  }, 180_000);
  afterEach(() => replicas.stop(), 60_000);
  afterAll(() => stores?.redis.drop());

  async function outcomeOf({ headers }: ReceivedStream, key: string): Promise<string | undefined> {
    const path = `/api/v1/usage/streams/${String(headers['x-request-id'])}`;
    const { status, raw } = await get(witness.origin, path, { authorization: `Bearer ${key}` });
    expect([200, 404]).toContain(status);
    return status === 200 ? (JSON.parse(raw) as { outcome: string }).outcome : undefined;
  }

  it('says interrupted soon after the process was killed, not only when its heartbeats are missing', async () => {
    const { key } = await replicas.createKey();
    const answer = await openStream(owner.origin, { key });
    expect(await outcomeOf(answer, key)).toBeUndefined();

    owner.process.signal('SIGKILL');

    expect(
      await waitFor(
        atMostEvery(REQUEST_EVERY_MS, () => outcomeOf(answer, key)),
        'the receipt',
        SOONER_MS,
      ),
    ).toBe('interrupted');
  }, 60_000);

  it('does not exist while the process is slow, and says completed when the stream has ended', async () => {
    const { key } = await replicas.createKey();
    const answer = await openStream(owner.origin, { key });

    owner.process.signal('SIGSTOP');
    const stoppedAt = performance.now();
    const outcome = atMostEvery(REQUEST_EVERY_MS, () => outcomeOf(answer, key));
    await waitFor(async () => {
      expect(await outcome()).toBeUndefined();
      return performance.now() - stoppedAt > SETTLED_MS;
    }, 'the replica to stand still for a while');
    owner.process.signal('SIGCONT');
    finish.open();

    expect(
      await waitFor(
        atMostEvery(REQUEST_EVERY_MS, () => outcomeOf(answer, key)),
        'the receipt',
      ),
    ).toBe('completed');
  }, 60_000);

  it('does not exist after a lost connection of the process, which connects again', async () => {
    const { key } = await replicas.createKey();
    const answer = await openStream(owner.origin, { key });

    replicas.postgres.cut();
    replicas.postgres.restore();

    const cutAt = performance.now();
    const outcome = atMostEvery(REQUEST_EVERY_MS, () => outcomeOf(answer, key));
    await waitFor(
      async () => {
        expect(await outcome()).toBeUndefined();
        return performance.now() - cutAt > 2 * SETTLED_MS;
      },
      'the replicas to be connected again',
      20_000,
    );
    finish.open();
    expect(
      await waitFor(
        atMostEvery(REQUEST_EVERY_MS, () => outcomeOf(answer, key)),
        'the receipt',
      ),
    ).toBe('completed');
  }, 60_000);
});
