import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Extensions } from '../common/extensions/extensions.js';
import { CONFIG, type Config, type ModelConfig } from '../config/config.js';
import { modelFrom } from '../config/model-of.js';
import { ModelCatalog } from './model-catalog.js';
import { MODEL_SOURCES, type ModelSource } from './model-source.js';

const REFRESH_SECONDS = 60;
const LONGEST_ANSWER_MS = 10_000;

/** Asks the model sources of plugins again and again, and puts their models into the catalog. */
@Injectable()
export class SourcedModels implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Models');
  /** The models of the last good answer of each source. */
  private readonly known = new Map<ModelSource, readonly ModelConfig[]>();
  private readonly timers = new Map<ModelSource, NodeJS.Timeout>();
  private readonly asking = new Map<ModelSource, Promise<void>>();
  /** What the log has told about each source, so that it tells the same thing once. */
  private readonly told = new Map<ModelSource, string>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly extensions: Extensions,
    private readonly catalog: ModelCatalog,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Waits for the first answers, so that the service does not start without the models. */
  async onApplicationBootstrap(): Promise<void> {
    const sources = this.extensions.of(MODEL_SOURCES);
    for (const source of sources) source.onChange?.(() => void this.refresh(source));
    await Promise.all(sources.map((source) => this.refresh(source)));
  }

  onModuleDestroy(): void {
    this.stopping.abort();
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  /** A question while one is under way waits for it, and asks again, because the answer may be older than the change. */
  private async refresh(source: ModelSource): Promise<void> {
    const before = this.asking.get(source);
    const next = (before ?? Promise.resolve()).then(() => this.ask(source));
    this.asking.set(source, next);
    await next;
    if (this.asking.get(source) === next) this.asking.delete(source);
  }

  private async ask(source: ModelSource): Promise<void> {
    if (this.stopping.signal.aborted) return;
    clearTimeout(this.timers.get(source));
    try {
      this.accept(source, await inTime((signal) => source.models(signal)));
    } catch (error) {
      this.tell(source, `A model source failed, and its last models stay: ${messageOf(error)}`);
    }
    this.askLater(source);
  }

  private askLater(source: ModelSource): void {
    if (this.stopping.signal.aborted) return;
    const { refreshSeconds = REFRESH_SECONDS } = source;
    this.timers.set(source, setTimeout(() => void this.refresh(source), refreshSeconds * 1_000).unref());
  }

  private accept(source: ModelSource, definitions: readonly unknown[]): void {
    const problems: string[] = [];
    const models = definitions.flatMap((definition): ModelConfig[] => {
      const model = modelFrom(definition, this.config);
      if (typeof model !== 'string') return [model];
      problems.push(`${idOf(definition)}: ${model}`);
      return [];
    });
    this.known.set(source, models);
    this.catalog.add([...this.known.values()].flat());
    if (problems.length === 0) this.told.delete(source);
    else this.tell(source, `Models of a source that are left out: ${problems.join('; ')}`);
  }

  private tell(source: ModelSource, problem: string): void {
    if (this.told.get(source) !== problem) this.logger.warn(problem);
    this.told.set(source, problem);
  }
}

async function inTime<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late.abort();
      reject(new Error(`no answer within ${LONGEST_ANSWER_MS / 1_000} s`));
    }, LONGEST_ANSWER_MS);
  });
  try {
    return await Promise.race([ask(late.signal), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function idOf(definition: unknown): string {
  const id = typeof definition === 'object' && definition !== null && 'id' in definition ? definition.id : undefined;
  return typeof id === 'string' ? id.slice(0, 100) : 'a model without id';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
