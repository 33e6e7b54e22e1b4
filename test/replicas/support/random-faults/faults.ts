import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import type { SeededRandom } from '../../../support/seeded-random.js';
import type { Fleet, Member } from './fleet.js';

/** Usual lengths of outages: shorter than a time limit of the service, about as long, and longer. */
const LENGTHS_MS = [200, 800, 2_500, 5_000, 9_000];
const DELAYS_MS = [30, 300, 1_500];
const LINK_FAULTS = ['cut', 'stall', 'lose replies', 'abandon', 'half-close', 'delay'] as const;

/** Does random things to the replicas and their links. */
export class RandomFaults {
  count = 0;
  /** When Redis was emptied. */
  readonly flushedAt: number[] = [];

  constructor(
    private readonly fleet: Fleet,
    private readonly random: SeededRandom,
    private readonly flushes: boolean,
  ) {}

  /** Two at a time, until this moment of the monotonic clock. */
  async run(until: number): Promise<void> {
    const loops = [this.random.fork(), this.random.fork()].map(async (random) => {
      while (performance.now() < until) {
        await sleep(random.between(100, 2_500));
        if (performance.now() < until) await this.one(random);
      }
    });
    await Promise.all(loops);
  }

  private async one(random: SeededRandom): Promise<void> {
    const member = random.pick(this.fleet.members);
    const ms = random.pick(LENGTHS_MS);
    const what = random.next();
    this.count += 1;
    if (what < 0.55) await this.link(random, member, ms);
    else if (what < 0.67) await this.pause(member, ms);
    else if (what < 0.75) await this.fleet.kill(member, random.between(0, 3_000));
    else if (what < 0.82) await this.fleet.terminate(member);
    else if (what < 0.9) await this.endDatabaseConnections(random);
    else if (what < 0.97 || !this.flushes) await this.killRedisConnections();
    else await this.flush();
  }

  private async link(random: SeededRandom, member: Member, ms: number): Promise<void> {
    const part = random.chance(0.5) ? 'redis' : 'postgres';
    const fault = random.pick(LINK_FAULTS);
    const isOfAll = random.chance(0.25);
    const members = isOfAll ? this.fleet.members : [member];
    const ends = members.map((each) => {
      const end = each.begin(part, fault);
      const link = each[part];
      switch (fault) {
        case 'cut':
          link.cut();
          break;
        case 'stall':
          link.stall();
          break;
        case 'lose replies':
          link.loseReplies();
          break;
        case 'abandon':
          link.abandon();
          break;
        case 'half-close':
          link.halfClose();
          break;
        case 'delay':
          link.delayMs = random.pick(DELAYS_MS);
      }
      return () => {
        link.restore();
        end();
      };
    });
    await sleep(ms);
    for (const end of ends) end();
  }

  private async pause(member: Member, ms: number): Promise<void> {
    const { replica } = member;
    if (replica === undefined) return;
    const end = member.begin('process', 'SIGSTOP');
    replica.process.signal('SIGSTOP');
    await sleep(ms);
    replica.process.signal('SIGCONT');
    end();
  }

  /** As a failover or a pooler does, in a burst or once. */
  private async endDatabaseConnections(random: SeededRandom): Promise<void> {
    const ends = this.fleet.members.map((member) => member.begin('postgres', 'pg_terminate_backend'));
    const rounds = random.chance(0.5) ? 1 : 60;
    for (let round = 0; round < rounds; round++) {
      const ports = this.fleet.members.flatMap(({ postgres }) => postgres.portsAtTarget);
      const sql = 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_port = ANY($1)';
      await this.fleet.replicas.accounts.get(DataSource).query(sql, [ports]);
      await sleep(20);
    }
    for (const end of ends) end();
  }

  private async killRedisConnections(): Promise<void> {
    const ends = this.fleet.members.map((member) => member.begin('redis', 'CLIENT KILL'));
    for (const port of this.fleet.members.flatMap(({ redis }) => redis.portsAtTarget)) {
      const command = ['CLIENT', 'KILL', 'ADDR', `127.0.0.1:${port}`];
      await this.fleet.stores.redis.client.sendCommand(command).catch(() => undefined);
    }
    for (const end of ends) end();
  }

  /** Only the database of this test. */
  private async flush(): Promise<void> {
    const ends = this.fleet.members.map((member) => member.begin('redis', 'FLUSHDB'));
    await this.fleet.stores.redis.flush();
    this.flushedAt.push(performance.now());
    for (const end of ends) end();
  }
}
