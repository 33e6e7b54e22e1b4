import slotOf from 'cluster-key-slot';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClusterLinks } from '../../../../src/redis/cluster/cluster-links.js';
import { readSlotsAt } from '../../../../src/redis/cluster/read-slots.js';
import { ScriptedRedis } from '../../../support/scripted-redis.js';
import { waitFor } from '../../../support/wait-for.js';

const LAST = 16_383;

const MIDDLE = 8_191;

const NAME = '127.0.0.1';

const UNUSED_MS = 30_000;

const NOBODY = { username: undefined, password: undefined };

const addressOf = ({ port }: ScriptedRedis) => ({ host: NAME, port });

type Range = readonly [first: number, last: number, host: string | null, port: number];

/** The reply to `CLUSTER SLOTS`. */
function slots(...ranges: readonly Range[]): string {
  const text = (host: string | null) => (host === null ? '$-1\r\n' : `$${host.length}\r\n${host}\r\n`);
  const rows = ranges.map(
    ([first, last, host, port]) => `*3\r\n:${first}\r\n:${last}\r\n*2\r\n${text(host)}:${port}\r\n`,
  );
  return `*${ranges.length}\r\n${rows.join('')}`;
}

describe('the servers of a cluster', () => {
  let one: ScriptedRedis;
  let other: ScriptedRedis;
  let links: ClusterLinks;
  let ups: number;
  let downs: string[];

  beforeEach(async () => {
    ups = 0;
    downs = [];
    [one, other] = [await ScriptedRedis.start(), await ScriptedRedis.start()];
    links = new ClusterLinks(
      { kind: 'cluster', seeds: [addressOf(one)], tls: false, credentials: NOBODY },
      {
        onUp: () => (ups += 1),
        onDown: (reason) => downs.push(reason),
      },
    );
    serve([0, MIDDLE, NAME, one.port], [MIDDLE + 1, LAST, NAME, other.port]);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await links.close();
    await one.stop();
    await other.stop();
  });

  function serve(...ranges: readonly Range[]): void {
    for (const server of [one, other]) server.replies['CLUSTER'] = slots(...ranges);
  }
  const areUp = (count: number) =>
    waitFor(() => links.all.length === count && links.all.every(({ isUp }) => isUp), `${count} servers`);
  const at = (server: ScriptedRedis) => readSlotsAt({ at: addressOf(server), tls: false, credentials: NOBODY });

  it('are queried on a connection that is closed afterwards', async () => {
    expect(await at(one)).toEqual([
      { first: 0, last: MIDDLE, master: addressOf(one) },
      { first: MIDDLE + 1, last: LAST, master: addressOf(other) },
    ]);
    one.replies['CLUSTER'] = '-ERR This instance has cluster support disabled\r\n';
    await expect(at(one)).rejects.toThrow('cluster support disabled');
    await one.isLeftWith(0);
  });

  it('may not know their own address yet, or have no slots', async () => {
    serve([0, MIDDLE, null, 0], [MIDDLE + 1, LAST, '', other.port]);
    expect((await at(one)).map(({ master }) => master)).toEqual([addressOf(one), { host: NAME, port: other.port }]);
    serve();
    await expect(at(one)).rejects.toThrow('no slots yet');
  });

  it('are not waited for longer than a second', async () => {
    one.replies['CLUSTER'] = '';
    const startedAt = performance.now();
    await expect(at(one)).rejects.toThrow('no reply');
    expect(performance.now() - startedAt).toBeGreaterThan(950);
    await one.isLeftWith(0);
  });

  it('are connected to when their slots are known, by one query at a time', async () => {
    expect([links.isWhole, links.of('key')]).toEqual([false, undefined]);
    expect(links.lastFailure).toBe('not connected yet');
    const first = links.refresh();
    expect(links.refresh()).toBe(first);
    await first;
    await areUp(2);
    expect([links.isWhole, links.masters.length]).toEqual([true, 2]);
    expect(links.refresh()).not.toBe(first);
    await links.refresh();
  });

  it('that serve slots no more are disconnected half a minute after their last use', async () => {
    await links.refresh();
    await areUp(2);
    serve([0, LAST, NAME, one.port]);
    await links.refresh();
    expect([links.masters.length, links.all.length]).toEqual([1, 2]);
    const now = performance.now() + UNUSED_MS / 2;
    vi.spyOn(performance, 'now').mockReturnValue(now);
    links.at(addressOf(other), undefined);
    vi.spyOn(performance, 'now').mockReturnValue(now + UNUSED_MS - 1_000);
    await links.refresh();
    expect(links.all).toHaveLength(2);
    vi.spyOn(performance, 'now').mockReturnValue(now + UNUSED_MS + 1_000);
    await links.refresh();
    expect(links.all).toHaveLength(1);
    vi.restoreAllMocks();
    await other.isLeftWith(0);
  });

  it('are queried on the connections that they have, the preferred one first', async () => {
    await links.refresh();
    await areUp(2);
    const asked = () => [one, other].map(({ commands }) => commands.filter((name) => name === 'CLUSTER').length);
    const [byOne = 0, byOther = 0] = asked();
    await links.refresh(links.at(addressOf(other), undefined));
    expect(asked()).toEqual([byOne, byOther + 1]);
    expect([one.openConnections, other.connections]).toEqual([1, 1]);
  });

  it('take over slots that have moved, and confirm this by a query', async () => {
    await links.refresh();
    await areUp(2);
    const from = links.of('key');
    const to = slotOf('key') <= MIDDLE ? other : one;
    links.move(slotOf('key'), { host: '', port: to.port }, from);
    expect(links.of('key')).not.toBe(from);
    await waitFor(() => links.of('key') === from, 'the cluster to say otherwise');
  });

  it('count as back from an outage when they take over the slots of a server that is down', async () => {
    await links.refresh();
    await areUp(2);
    expect([ups, links.at(addressOf(other), undefined).availableSince]).toEqual([2, -Infinity]);
    serve([0, LAST, NAME, other.port]);
    one.refusal = 'READONLY';
    await links
      .at(addressOf(one), undefined)
      .check()
      .catch(() => undefined);
    await links.refresh();
    expect(ups).toBe(3);
    expect(performance.now() - links.at(addressOf(other), undefined).availableSince).toBeLessThan(10_000);
  });

  it('are named with the reason when they are down', async () => {
    await links.refresh();
    await areUp(2);
    other.refusal = 'READONLY';
    await links
      .at(addressOf(other), undefined)
      .check()
      .catch(() => undefined);
    const reason = `${NAME}:${other.port}: READONLY`;
    expect([downs, links.lastFailure, links.isWhole]).toEqual([[reason], reason, false]);
  });

  it('do not count as back when they take over slots of a server that runs', async () => {
    await links.refresh();
    await areUp(2);
    serve([0, LAST, NAME, other.port]);
    await links.refresh();
    expect([ups, links.at(addressOf(other), undefined).availableSince]).toEqual([2, -Infinity]);
  });

  it('are not connected to when they become known only after the end', async () => {
    serve([0, LAST, NAME, one.port]);
    await links.refresh();
    await areUp(1);
    serve([0, MIDDLE, NAME, one.port], [MIDDLE + 1, LAST, NAME, other.port]);
    const refreshed = links.refresh();
    await links.close();
    await refreshed;
    expect(links.all.map(({ isOpen }) => isOpen)).toEqual([false, false]);
    // Answers come in order of the calls: by now a link that had started would have a connection.
    await at(other);
    expect(other.connections).toBe(1);
  });

  it('leave the map as it was when none replies, and give the reason', async () => {
    await links.refresh();
    await areUp(2);
    for (const server of [one, other]) server.replies['CLUSTER'] = '-CLUSTERDOWN The cluster is down\r\n';
    await links.refresh();
    expect([links.lastFailure, links.masters.length]).toEqual(['CLUSTERDOWN The cluster is down', 2]);
  });
});
