import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { burst } from '../replicas/support/burst.js';
import { outcomesOf } from '../replicas/support/ledger.js';
import { Replicas } from '../replicas/support/replicas.js';
import { sharedStores } from '../replicas/support/stores.js';
import { pacedAnswer, Talker } from '../replicas/support/talker.js';
import { cancel, durableWireOf, readDurable, resume, streamIdOf } from '../support/durable.js';
import { Latch } from '../support/latch.js';
import { hasClusterPrograms, TestCluster } from '../support/redis-cluster.js';
import { get, openStream, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';

const stores = hasClusterPrograms ? await sharedStores() : undefined;
const PER_MINUTE = 10;
const TEXT = 'One half, and the other half.';
const FAILOVER_MS = 30_000;
const ALL_LIMITS = { requests_per_minute: 1_000, concurrent_streams: 100, tokens_per_day: 1_000_000_000 };

describe.skipIf(stores === undefined)('two replicas on a Redis Cluster', () => {
  let cluster: TestCluster;
  let replicas: Replicas;
  let rest = new Latch();

  beforeAll(async () => {
    cluster = await TestCluster.start();
    const tiers = { free: {}, requests: { requests_per_minute: PER_MINUTE }, all: ALL_LIMITS };
    const env = { REDIS_URL: cluster.url };
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { count: 2, tiers, env });
  }, 180_000);
  afterEach(() => {
    rest.open();
  });
  afterAll(async () => {
    await replicas.stop();
    await stores?.redis.drop();
    await cluster.stop();
  }, 60_000);

  const origin = (index: number): string => replicas.origins[index] ?? '';
  const useKey = ({ accountId }: { accountId: string }): string => `chat:{${accountId}}:use`;
  /** An account of each master. */
  async function accountsOfAllMasters(tier: string) {
    const byMaster = new Map<number, Awaited<ReturnType<Replicas['createKey']>>>();
    while (byMaster.size < 3) {
      const account = await replicas.createKey(tier);
      byMaster.set(await cluster.masterOf(useKey(account)), account);
    }
    return byMaster;
  }
  const answerAtOnce = (): void => {
    replicas.provider.answers((call) => {
      call.answer('Hello');
    });
  };
  const answerInHalves = (): void => {
    const { opened } = (rest = new Latch());
    replicas.provider.answers(async (call) => {
      call.head().text(TEXT.slice(0, 10));
      await opened;
      call.text(TEXT.slice(10)).finish().endMarker().end();
    });
  };
  const durably = (index: number, key: string, name: string, content = 'Hi') =>
    openStream(origin(index), {
      key,
      headers: { 'idempotency-key': name },
      body: { messages: [{ role: 'user', content }] },
    });
  async function areExact(): Promise<void> {
    answerAtOnce();
    for (const account of (await accountsOfAllMasters('requests')).values()) {
      const { admitted, refused } = await burst(replicas.origins, PER_MINUTE, account);
      expect(admitted).toHaveLength(PER_MINUTE);
      expect(refused.map(({ status }) => status)).toEqual(Array.from({ length: PER_MINUTE }, () => 429));
    }
  }
  const partsOf = async (index: number): Promise<unknown> => {
    const ready = await get(origin(index), '/api/v1/health/ready');
    expect(ready.status).toBe(200);
    return (JSON.parse(ready.raw) as { parts: unknown }).parts;
  };
  const isUp = () =>
    waitFor(
      async () => {
        const parts = await Promise.all([partsOf(0), partsOf(1)]);
        return parts.every((each) => (each as { redis: string }).redis === 'up');
      },
      'the whole cluster to be available',
      FAILOVER_MS,
    );
  const logged = (words: RegExp): number[] =>
    replicas.all.map(({ process }) => process.stdout.split('\n').filter((line) => words.test(line)).length);

  it('keep limits exact, for accounts on all masters', areExact, 60_000);

  it('keep all keys of an account on one server', async () => {
    answerInHalves();
    const account = await replicas.createKey('all');
    const held = await openStream(origin(0), account);
    await held.block(1);
    const keys = await cluster.keys(`*${account.accountId}*`);
    expect(keys.sort()).toEqual(['streams', 'tokens', 'use'].map((kind) => `chat:{${account.accountId}}:${kind}`));
    rest.open();
    expect(await wireOf(held)).toMatchObject({ text: TEXT, terminal: 'done' });
    // The set of reservations then has only the counted lease.
    const left = async () => (await cluster.keys(`*${account.accountId}*`)).map((key) => key.split(':').at(-1)).sort();
    await waitFor(async () => String(await left()) === 'tokens,use', 'the leases to be released');
  });

  it('count on when the servers have lost all scripts', async () => {
    answerAtOnce();
    const accounts = [...(await accountsOfAllMasters('requests')).values()];
    for (const account of accounts) expect((await stream(origin(0), account)).status).toBe(200);
    for (const port of cluster.ports) await cluster.cli(port, 'SCRIPT', 'FLUSH');
    for (const account of accounts) {
      const { admitted } = await burst(replicas.origins, PER_MINUTE, account);
      expect(admitted).toHaveLength(PER_MINUTE - 1);
    }
  });

  it('resume a durable stream at the other replica, and cancel there', async () => {
    answerInHalves();
    const { key, accountId } = await replicas.createKey();
    const first = await durably(0, key, 'resumed');
    await first.block(1);
    const again = await durably(1, key, 'resumed');
    await again.block(1);
    first.leave();
    const cancelled = await durably(1, key, 'cancelled');
    await cancelled.block(1);
    const { status } = await cancel(origin(0), streamIdOf(cancelled), { key });
    expect(status).toBe(204);
    expect(await durableWireOf(cancelled)).toMatchObject({ terminal: 'cancelled' });

    rest.open();
    expect(await durableWireOf(again)).toMatchObject({ text: TEXT, terminal: 'done' });
    expect(again.headers['idempotency-replayed']).toBe('true');
    const byId = await resume(origin(0), streamIdOf(again), { key });
    expect(await durableWireOf(byId)).toMatchObject({ text: TEXT, terminal: 'done' });
    await waitFor(async () => (await outcomesOf(replicas.accounts, accountId))['completed'] === 1, 'the record');
  });

  describe('while slots move', () => {
    it('answer each request, and stay exact', async () => {
      replicas.provider.answers(pacedAnswer);
      const accounts = [...(await accountsOfAllMasters('all')).values()];
      const talkers = accounts.flatMap(({ key }, account) =>
        replicas.origins.map((one, replica) => new Talker(`${account}-${replica}`, one, key)),
      );
      const [from = 0, to = 0] = [...(await accountsOfAllMasters('all')).keys()];
      await cluster.reshard(from, to, 1_000);
      await cluster.reshard(to, from, 1_000);
      await Promise.all(talkers.map((talker) => talker.stop()));
      expect(talkers.flatMap(({ faults }) => faults)).toEqual([]);
      expect(Math.min(...talkers.map(({ complete }) => complete))).toBeGreaterThan(0);
      await areExact();
    }, 120_000);

    it('wait for an account whose keys are on two servers, and follow its keys before its slot', async () => {
      answerInHalves();
      const account = await replicas.createKey('all');
      const held = await openStream(origin(0), account);
      await held.block(1);
      const [from, to] = [await cluster.masterOf(useKey(account)), await otherMaster(account)];
      const move = await cluster.beginMove(useKey(account), from, to);
      const asked = openStream(origin(1), account);
      await waitFor(() => move.isFelt(), 'the request to be refused by Redis');
      await move.moveKeys();
      const answer = await asked;
      expect(answer.status).toBe(200);
      await move.end();
      rest.open();
      for (const one of [held, answer]) expect(await wireOf(one)).toMatchObject({ text: TEXT, terminal: 'done' });
      await waitFor(
        async () => (await cluster.keys(`chat:{${account.accountId}}:streams`)).length === 0,
        'the release',
      );
    }, 60_000);

    async function otherMaster(account: { accountId: string }): Promise<number> {
      const own = await cluster.masterOf(useKey(account));
      return [...(await accountsOfAllMasters('all')).keys()].find((port) => port !== own) ?? 0;
    }
  });

  it('go on when a master is killed, say so once, and are exact after the failover', async () => {
    await cluster.isReplicated();
    await isUp();
    const [away, back] = [logged(/Redis is unavailable/), logged(/Redis is back after/)];
    replicas.provider.answers(pacedAnswer);
    const accounts = await accountsOfAllMasters('all');
    const [victim = 0] = accounts.keys();
    const talkers = [...accounts.values()].flatMap(({ key }, account) =>
      replicas.origins.map((one, replica) => new Talker(`${account}-${replica}`, one, key)),
    );
    const { key } = await replicas.createKey();
    const durable = await Promise.all(
      Array.from({ length: 6 }, (_, index) => durably(0, key, randomUUID(), `durable:${index}`)),
    );
    await Promise.all(durable.map((one) => one.block(1)));

    await cluster.kill(victim);
    await waitFor(
      () => logged(/Redis is unavailable/).every((count, index) => count > (away[index] ?? 0)),
      'the outage',
    );
    for (const one of durable) expect(await durableWireOf(one)).toMatchObject({ terminal: 'done' });
    await cluster.isWhole();
    await isUp();
    await Promise.all(talkers.map((talker) => talker.stop()));

    expect(talkers.flatMap(({ faults }) => faults)).toEqual([]);
    for (const one of durable) {
      const replayed = await waitFor(async () => {
        const answer = await resume(origin(1), streamIdOf(one), { key });
        return answer.status === 503 ? undefined : answer;
      }, 'durable streams to be available');
      const { text, terminal } = readDurable(await replayed.body());
      expect({ text, terminal }).toEqual({ text: readDurable(one.raw).text, terminal: 'done' });
    }
    await areExact();
    expect(logged(/Redis is unavailable/)).toEqual(away.map((count) => count + 1));
    await waitFor(() => logged(/Redis is back after/).every((count, index) => count > (back[index] ?? 0)), 'its end');
    for (const { process } of replicas.all) expect(process.stdout).not.toMatch(/"level":(?:50|60)/);
    await cluster.run(victim);
    await cluster.isReplicated();
  }, 180_000);

  it('count all other accounts as before while a part of the cluster is lost', async () => {
    for (const port of cluster.ports) await cluster.cli(port, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
    answerAtOnce();
    const accounts = await accountsOfAllMasters('requests');
    const [lost = 0] = accounts.keys();
    const servers = [...(await cluster.replicasOf(lost)), lost];
    for (const port of servers) await cluster.kill(port);
    await waitFor(async () => {
      const parts = await Promise.all([partsOf(0), partsOf(1)]);
      return parts.every((each) => (each as { redis: string }).redis === 'down');
    }, 'the outage');

    for (const [master, account] of accounts) {
      const [one, other] = await Promise.all(replicas.origins.map((each) => burst([each], PER_MINUTE, account)));
      const admitted = [one?.admitted.length ?? 0, other?.admitted.length ?? 0];
      // On the lost master, each of the two replicas admits its half.
      if (master === lost) expect(admitted).toEqual([PER_MINUTE / 2, PER_MINUTE / 2]);
      else expect(admitted.reduce((sum, count) => sum + count)).toBe(PER_MINUTE);
    }
    for (const port of servers.reverse()) await cluster.run(port);
    await isUp();
    await areExact();
  }, 120_000);

  it('share the cooldown of a route', async () => {
    const { key } = await replicas.createKey();
    replicas.provider.answers((call) => {
      call.refuse(429, { 'retry-after': '120' });
    });
    expect((await stream(origin(0), { key })).status).toBe(503);
    answerAtOnce();
    await waitFor(async () => (await stream(origin(1), { key })).status === 503, 'the rest to arrive');
  });
});
