import pg from 'pg';
import { EventEmitter } from 'node:events';
import { Lost, type Link, type LinkState } from './link.js';

/** The links of all probes, by the URL of their database. */
const probes = new Map<string, SimulatedProbe>();
const { Client } = pg;

/** The way to the database of the probe of one replica. Only the probe uses it, so slow queries do not make it slow. */
export class SimulatedProbe {
  readonly url = `probe-${probes.size}`;
  readonly clients = new Set<SimulatedClient>();

  constructor(readonly link: Link) {
    probes.set(this.url, this);
  }

  /** Lets the service make simulated connections. */
  static install(): void {
    probes.clear();
    Reflect.set(pg, 'Client', SimulatedClient);
  }

  static restore(): void {
    Reflect.set(pg, 'Client', Client);
  }

  /** Changes the link, in a step of the replica. */
  set(state: LinkState): void {
    this.link.set(state);
    if (state === 'cut') for (const client of this.clients) client.end();
  }
}

/** Has the members of a client of PostgreSQL that the probe uses. */
class SimulatedClient extends EventEmitter {
  readonly connection = { stream: { destroy: () => this.probe.clients.delete(this) } };
  private readonly probe: SimulatedProbe;

  constructor({ connectionString }: { connectionString: string }) {
    super();
    this.probe = probes.get(connectionString) as SimulatedProbe;
  }

  async connect(): Promise<void> {
    await this.call();
    this.probe.clients.add(this);
  }

  async query(): Promise<{ rows: object[] }> {
    await this.call();
    return { rows: [{ taken: false }] };
  }

  end(): void {
    this.probe.clients.delete(this);
    this.emit('end');
  }

  private async call(): Promise<void> {
    try {
      await this.probe.link.call(() => Promise.resolve());
    } catch (error) {
      this.end();
      if (!(error instanceof Lost)) throw error;
      throw Object.assign(new Error(error.message), { code: error.wasSent ? 'ECONNRESET' : 'ECONNREFUSED' });
    }
  }
}
