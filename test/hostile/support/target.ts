import { readFile } from 'node:fs/promises';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { configFile, routesTo, type Catalog, type Timeouts } from '../../support/catalog.js';
import { readMetrics, valueOf, type Series } from '../../support/metrics.js';
import { Installation, type SpawnedProcess } from '../../support/process.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { get } from '../../support/sse-client.js';

export interface TargetOptions {
  /** The first is the default tier. */
  readonly tiers?: Readonly<Record<string, object>>;
  readonly timeouts?: Timeouts;
  /** Of the model. */
  readonly price?: object;
  /** By default one model at the provider. */
  readonly catalog?: (provider: ScriptedProvider) => Catalog;
  readonly env?: Readonly<Record<string, string>>;
}

/** What `/health` answered while something went on. */
export interface HealthReport {
  /** Longest that one answer took, in milliseconds. */
  readonly longestMs: number;
  readonly answered: number;
  readonly failed: number;
}

/**
 * For `/health` during an attack. Far above what is measured on an idle machine, as a busy one delays both processes; far below
 * the half minute that such attacks took before the service had its limits.
 */
export const MAX_HEALTH_MS = 10_000;

/** The service as a process of its own, to be attacked, with one model at a scripted provider. */
export class Target {
  private constructor(
    readonly installation: Installation,
    readonly process: SpawnedProcess,
    readonly provider: ScriptedProvider,
    readonly origin: string,
    private readonly metricsOrigin: string,
  ) {}

  static async start({ tiers, timeouts, price, catalog, env = {} }: TargetOptions = {}): Promise<Target> {
    const provider = await ScriptedProvider.start();
    const served = catalog?.(provider) ?? routesTo([provider], timeouts, price);
    const installation = await Installation.create(configFile(served, tiers), env);
    const process = installation.start({ METRICS_PORT: '0', ...env });
    const origin = await process.origin();
    const metricsOrigin = /Metrics at (http:\/\/[\w.:[\]]+)\/metrics/.exec(process.stdout)?.[1] ?? '';
    return new Target(installation, process, provider, origin, metricsOrigin);
  }

  /** A new account's new key. */
  async createKey(email?: string): Promise<string> {
    return (await this.installation.createKey(email)).key;
  }

  /** Does `work`, and tells how `/health` answered meanwhile. */
  async healthDuring(work: () => Promise<unknown>): Promise<HealthReport> {
    const watch = new Worker(new URL('./health-watch.mjs', import.meta.url), { workerData: { origin: this.origin } });
    try {
      await once(watch, 'message');
      await work();
      const report = once(watch, 'message');
      watch.postMessage('stop');
      const [health] = (await report) as [HealthReport];
      return health;
    } finally {
      await watch.terminate();
    }
  }

  /** Resident memory of the process in MiB. */
  async residentMiB(): Promise<number> {
    const status = await readFile(`/proc/${this.process.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  }

  /** CPU time of the process while `work` is done, in milliseconds: all of it, of other requests, too. */
  async cpuMsDuring(work: () => Promise<unknown>): Promise<number> {
    const spentMs = async () => valueOf(await this.metrics(), 'process_cpu_seconds_total') * 1000;
    const before = await spentMs();
    await work();
    return (await spentMs()) - before;
  }

  async metrics(): Promise<Series[]> {
    return readMetrics(await (await get(this.metricsOrigin, '/metrics')).body());
  }

  async stop(): Promise<void> {
    await this.installation.remove();
    await this.provider.stop();
  }
}
