import type { HostAndPort, RedisAddress } from '../../config/sources/redis-url.js';
import { addressText, type ServerAddress } from '../redis-client.js';
import { reasonOf } from '../redis-errors.js';
import { ServerLink } from '../server-link.js';
import { readSlots, readSlotsAt } from './read-slots.js';
import { SlotMap, type SlotRange } from './slot-map.js';

/** A link that serves no slots stays open this long after its last use: slots may be moving to it. */
const UNUSED_LINK_MS = 30_000;

export interface LinkEvents {
  readonly onUp: () => void;
  readonly onDown: (reason: string) => void;
}

interface Member {
  readonly at: HostAndPort;
  readonly link: ServerLink;
  usedAt: number;
}

type ClusterAddress = Extract<RedisAddress, { kind: 'cluster' }>;

/** The links to the masters of a cluster, and which of them serves which slot. */
export class ClusterLinks {
  lastFailure = 'not connected yet';
  private readonly map = new SlotMap();
  private readonly members = new Map<string, Member>();
  private refreshing: Promise<void> | undefined;
  private isClosed = false;

  constructor(
    private readonly address: ClusterAddress,
    private readonly events: LinkEvents,
  ) {}

  /** Whether each slot has a master, and no master is unavailable. */
  get isWhole(): boolean {
    return this.map.isComplete && this.masters.every(({ state }) => state !== 'down');
  }

  get masters(): readonly ServerLink[] {
    return [...this.map.masters].flatMap((name) => this.members.get(name)?.link ?? []);
  }

  get all(): readonly ServerLink[] {
    return [...this.members.values()].map(({ link }) => link);
  }

  /** Returns the link to the server of the key, or `undefined` if no server is known. */
  of(key: string): ServerLink | undefined {
    return this.members.get(this.map.ownerOf(key) ?? '')?.link;
  }

  /** Returns the link to a server to which another server redirects. */
  at(to: HostAndPort, from: ServerLink | undefined): ServerLink {
    const member = this.member(this.addressOf(to, from));
    member.usedAt = performance.now();
    return member.link;
  }

  /** Takes over that another master serves the slot, and reads the whole map soon. */
  move(slot: number, to: HostAndPort, from: ServerLink | undefined): void {
    const at = this.addressOf(to, from);
    const { link } = this.member(at);
    this.map.move(slot, addressText(at));
    void this.refresh(link);
  }

  /**
   * Reads which master serves which slot.
   *
   * @param preferred is queried first.
   */
  refresh(preferred?: ServerLink): Promise<void> {
    this.refreshing ??= this.read(preferred).finally(() => {
      this.refreshing = undefined;
    });
    return this.refreshing;
  }

  /** Closes all links. A map that arrives later opens no more. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.all.map((link) => link.close()));
  }

  private async read(preferred: ServerLink | undefined): Promise<void> {
    for (const read of this.sources(preferred)) {
      try {
        this.replace(await read());
        return;
      } catch (error) {
        this.lastFailure = reasonOf(error);
      }
    }
  }

  /** Queries the servers of the cluster on their links. If none replies, queries the servers of the URL. */
  private *sources(preferred: ServerLink | undefined): Generator<() => Promise<SlotRange[]>> {
    const members = [...this.members.values()].filter(({ link }) => link.isOpen);
    const first = members.filter(({ link }) => link === preferred);
    const others = members.filter(({ link }) => link !== preferred && link.isUp);
    for (const { link, at } of [...first, ...others]) yield () => link.query((client) => readSlots(client, at));
    for (const at of this.address.seeds) yield () => readSlotsAt(this.server(at));
  }

  private replace(ranges: readonly SlotRange[]): void {
    const taken = this.map.replace(ranges);
    for (const { master } of ranges) this.member(master);
    for (const [name, formerOwners] of taken) {
      const isFailover = [...formerOwners].some((former) => this.members.get(former)?.link.state === 'down');
      if (isFailover) this.members.get(name)?.link.takeOver();
    }
    this.closeUnused();
  }

  private closeUnused(): void {
    const { masters } = this.map;
    for (const [name, { link, usedAt }] of this.members) {
      if (masters.has(name) || (link.isUp && performance.now() - usedAt < UNUSED_LINK_MS)) continue;
      this.members.delete(name);
      void link.close();
    }
  }

  private member(at: HostAndPort): Member {
    const name = addressText(at);
    let member = this.members.get(name);
    if (member === undefined) {
      const link = new ServerLink({
        locate: () => Promise.resolve(this.server(at)),
        probeKey: () => this.map.probeKeyOf(name),
        onUp: this.events.onUp,
        onDown: (reason) => {
          this.lastFailure = `${name}: ${reason}`;
          this.events.onDown(this.lastFailure);
        },
      });
      member = { at, link, usedAt: performance.now() };
      this.members.set(name, member);
      if (!this.isClosed) link.start();
    }
    return member;
  }

  private addressOf({ host, port }: HostAndPort, from: ServerLink | undefined): HostAndPort {
    if (host !== '') return { host, port };
    const sender = [...this.members.values()].find(({ link }) => link === from);
    return { host: sender?.at.host ?? '', port };
  }

  private server(at: HostAndPort): Extract<ServerAddress, { at: HostAndPort }> {
    return { at, tls: this.address.tls, credentials: this.address.credentials };
  }
}
