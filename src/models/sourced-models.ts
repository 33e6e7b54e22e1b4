import { ExtensionPoint, Extensions } from '../platform/common/extensions/extensions.js';
import { modelFrom, type ModelDefinition } from '../platform/config/model-of.js';
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, type Config, type ModelConfig } from '../platform/config/config.js';
import { startTimer } from '../platform/common/timers/pace.js';
import { withTimeout } from '../platform/common/timers/timeouts.js';
import { ModelCatalog } from './model-catalog.js';

/**
 * Provides models in addition to those of CONFIG_FILE, from a place that can change while the service runs. The service reads
 * the source at the start and then at regular intervals. While the source fails, its last models stay.
 *
 * @experimental
 * @since 1.0
 */
export interface ModelSource {
  /** The interval between two reads, in seconds. Default: 60. */
  readonly refreshSeconds?: number;
  /**
   * Returns all models of the source, in the form of `models` in CONFIG_FILE. The routes name upstreams of CONFIG_FILE. A
   * model that is invalid, whose upstreams are all not configured, or whose id is in CONFIG_FILE is left out.
   *
   * @param signal aborts after 10 seconds.
   */
  models(signal: AbortSignal): Promise<readonly ModelDefinition[]>;
  /** Called once. The source calls `changed` when the service should read it again at once. */
  onChange?(changed: () => void): void;
}

export const MODEL_SOURCES = new ExtensionPoint<ModelSource>('modelSources');

const REFRESH_SECONDS = 60;
const REPLY_TIMEOUT_MS = 10_000;

/** Reads the model sources of plugins at regular intervals, and puts their models into the catalog. */
@Injectable()
export class SourcedModels implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Models');
  /** The models of the last valid reply of each source. */
  private readonly lastModels = new Map<ModelSource, readonly ModelConfig[]>();
  private readonly timers = new Map<ModelSource, NodeJS.Timeout>();
  private readonly refreshes = new Map<ModelSource, Promise<void>>();
  /** The last problem of each source in the log, so that the log has the same problem once. */
  private readonly logged = new Map<ModelSource, string>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly extensions: Extensions,
    private readonly catalog: ModelCatalog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Waits for the first replies, so that the service does not start without the models. */
  async onApplicationBootstrap(): Promise<void> {
    const sources = this.extensions.of(MODEL_SOURCES);
    for (const source of sources) source.onChange?.(() => void this.refresh(source));
    await Promise.all(sources.map((source) => this.refresh(source)));
  }

  onModuleDestroy(): void {
    this.stopping.abort();
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  /** During another refresh, waits for its end and reads again, because the other reply may be older than the change. */
  private async refresh(source: ModelSource): Promise<void> {
    const before = this.refreshes.get(source);
    const next = (before ?? Promise.resolve()).then(() => this.read(source));
    this.refreshes.set(source, next);
    await next;
    if (this.refreshes.get(source) === next) this.refreshes.delete(source);
  }

  private async read(source: ModelSource): Promise<void> {
    if (this.stopping.signal.aborted) return;
    clearTimeout(this.timers.get(source));
    try {
      this.accept(source, await modelsOf(source));
    } catch (error) {
      this.warnOnce(source, `A model source failed, and its last models stay: ${messageOf(error)}`);
    }
    this.schedule(source);
  }

  private schedule(source: ModelSource): void {
    if (this.stopping.signal.aborted) return;
    const { refreshSeconds = REFRESH_SECONDS } = source;
    this.timers.set(source, startTimer(() => void this.refresh(source), refreshSeconds * 1_000).unref());
  }

  private accept(source: ModelSource, definitions: readonly unknown[]): void {
    const problems: string[] = [];
    const models = definitions.flatMap((definition): ModelConfig[] => {
      const model = modelFrom(definition, this.config);
      if (typeof model !== 'string') return [model];
      problems.push(`${idOf(definition)}: ${model}`);
      return [];
    });
    this.lastModels.set(source, models);
    this.catalog.add([...this.lastModels.values()].flat());
    if (problems.length === 0) this.logged.delete(source);
    else this.warnOnce(source, `Models of a source that are left out: ${problems.join('; ')}`);
  }

  private warnOnce(source: ModelSource, problem: string): void {
    if (this.logged.get(source) !== problem) this.logger.warn(problem);
    this.logged.set(source, problem);
  }
}

async function modelsOf(source: ModelSource): Promise<readonly unknown[]> {
  const late = new AbortController();
  return withTimeout(source.models(late.signal), REPLY_TIMEOUT_MS, () => {
    late.abort();
    return new Error(`no reply within ${REPLY_TIMEOUT_MS / 1_000} s`);
  });
}

function idOf(definition: unknown): string {
  const id = typeof definition === 'object' && definition !== null && 'id' in definition ? definition.id : undefined;
  return typeof id === 'string' ? id.slice(0, 100) : 'a model without id';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
