import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Config } from '../../../src/platform/config/config.js';
import type { ModelDefinition } from '../../../src/platform/config/model-of.js';
import { ModelCatalog } from '../../../src/models/model-catalog.js';
import { MODEL_SOURCES, SourcedModels, type ModelSource } from '../../../src/models/sourced-models.js';
import { extensionsOf } from '../../support/extensions.js';
import { stopTime } from '../../support/moved-time.js';

const REFRESH_MS = 60_000;
const PATIENCE_MS = 10_000;
const CONFIG = { models: [], upstreams: new Map([['acme', {}]]), currency: 'USD' } as unknown as Config;

let catalog: ModelCatalog;
let models: SourcedModels | undefined;

/** A source whose answers the test gives. */
class Source implements ModelSource {
  asked = 0;
  signal: AbortSignal | undefined;
  changed: () => void = () => undefined;
  answer: () => Promise<readonly unknown[]>;

  constructor(
    name: string,
    readonly refreshSeconds = REFRESH_MS / 1_000,
  ) {
    this.answer = () => Promise.resolve([definition(name)]);
  }

  async models(signal: AbortSignal): Promise<readonly ModelDefinition[]> {
    this.asked += 1;
    this.signal = signal;
    return (await this.answer()) as readonly ModelDefinition[];
  }

  onChange(changed: () => void): void {
    this.changed = changed;
  }
}

beforeEach(() => {
  stopTime();
  vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  catalog = new ModelCatalog(CONFIG);
});
afterEach(() => {
  models?.onModuleDestroy();
  expect(vi.getTimerCount()).toBe(0);
});

const definition = (name: string) => ({
  id: `acme/${name}`,
  name,
  provider: 'acme',
  context_length: 8_000,
  routes: [{ upstream: 'acme', model: name }],
});
const pass = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const names = (): string[] => catalog.all().map(({ name }) => name);
const warnings = (): unknown[] => vi.mocked(Logger.prototype.warn).mock.calls.map(([text]) => text as unknown);
const start = (...sources: ModelSource[]): Promise<void> => {
  models = new SourcedModels(extensionsOf(MODEL_SOURCES, sources), catalog, CONFIG);
  return models.onApplicationBootstrap();
};

describe('a source of models', () => {
  it('is waited for at the start, and so is every other one', async () => {
    const [slow, quick] = [new Source('slow'), new Source('quick')];
    let answer: (all: readonly unknown[]) => void = () => undefined;
    slow.answer = () => new Promise((resolve) => (answer = resolve));
    let started = false;
    const starting = start(slow, quick).then(() => (started = true));
    await pass(1);
    expect([names(), started]).toEqual([['quick'], false]);
    answer([definition('slow')]);
    await starting;
    expect(names().sort()).toEqual(['quick', 'slow']);
  });

  it('is read again after its own interval, or after a minute, by timers that do not keep the process alive', async () => {
    const [often, seldom] = [new Source('often', 10), new Source('seldom')];
    Reflect.deleteProperty(seldom, 'refreshSeconds');
    await start(often, seldom);
    const timers = [...(Reflect.get(models ?? {}, 'timers') as Map<unknown, NodeJS.Timeout>).values()];
    expect(timers.map((timer) => timer.hasRef())).toEqual([false, false]);
    await pass(9_999);
    expect([often.asked, seldom.asked]).toEqual([1, 1]);
    await pass(1);
    expect([often.asked, seldom.asked]).toEqual([2, 1]);
    often.answer = () => Promise.resolve([definition('new')]);
    await pass(REFRESH_MS - 10_000);
    expect([often.asked, seldom.asked, names()]).toEqual([7, 2, ['new', 'seldom']]);
  });

  it('is read again at once when it has changed, and then no earlier than before', async () => {
    const source = new Source('old');
    await start(source);
    await pass(REFRESH_MS / 2);
    source.answer = () => Promise.resolve([definition('new')]);
    source.changed();
    await pass();
    expect([source.asked, names()]).toEqual([2, ['new']]);
    expect(vi.getTimerCount()).toBe(1);
    await pass(REFRESH_MS - 1);
    expect(source.asked).toBe(2);
    await pass(1);
    expect(source.asked).toBe(3);
  });

  it('that changes while it is read is read again after its reply, which may be older', async () => {
    const source = new Source('old');
    await start(source);
    const answers: ((all: readonly unknown[]) => void)[] = [];
    source.answer = () => new Promise((resolve) => answers.push(resolve));
    source.changed();
    await pass();
    source.changed();
    await pass();
    expect(source.asked).toBe(2);
    answers[0]?.([definition('older')]);
    await pass();
    expect([source.asked, names()]).toEqual([3, ['older']]);
    answers[1]?.([definition('newest')]);
    await pass();
    expect(names()).toEqual(['newest']);
    expect((Reflect.get(models ?? {}, 'refreshes') as Map<unknown, unknown>).size).toBe(0);
  });

  it('keeps its last models while it fails, with one line in the log', async () => {
    const source = new Source('known');
    await start(source);
    const good = source.answer;
    source.answer = () => Promise.reject(new Error('registry away'));
    await pass(3 * REFRESH_MS);
    expect([source.asked, names()]).toEqual([4, ['known']]);
    expect(warnings()).toEqual(['A model source failed, and its last models stay: registry away']);
    source.answer = good;
    await pass(REFRESH_MS);
    source.answer = () => Promise.reject(new Error('registry away'));
    await pass(REFRESH_MS);
    expect(warnings()).toHaveLength(2);
  });

  it('is not waited for longer than ten seconds, and its signal aborts', async () => {
    const source = new Source('never');
    source.answer = () => new Promise(() => undefined);
    const starting = start(source);
    await pass(PATIENCE_MS - 1);
    expect(source.signal?.aborted).toBe(false);
    await pass(1);
    await starting;
    expect(source.signal?.aborted).toBe(true);
    expect(warnings()).toEqual(['A model source failed, and its last models stay: no reply within 10 s']);
    expect(vi.getTimerCount()).toBe(1);
  });

  it('is not called late after its answer', async () => {
    const source = new Source('quick');
    await start(source);
    await pass(PATIENCE_MS);
    expect(source.signal?.aborted).toBe(false);
  });

  it('drops invalid models, each with its reason, reported once', async () => {
    const source = new Source('good');
    source.answer = () =>
      Promise.resolve([
        definition('good'),
        { ...definition('elsewhere'), routes: [{ upstream: 'nobody', model: 'x' }] },
        { name: 'no id' },
        null,
      ]);
    await start(source);
    await pass(REFRESH_MS);
    expect(names()).toEqual(['good']);
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]).toMatch(
      /^Models of a source that are left out: acme\/elsewhere: none of its upstreams is configured; /,
    );
    expect(warnings()[0]).toContain('a model without id: ');
  });

  it('does not stop the start, whatever it returns', async () => {
    const source = new Source('odd');
    source.answer = () => Promise.resolve(undefined as unknown as readonly unknown[]);
    await start(source);
    expect([names(), warnings().length]).toEqual([[], 1]);
  });

  it('is not read again when the service stops, not even after a pending read', async () => {
    const source = new Source('old');
    await start(source);
    let answer: (all: readonly unknown[]) => void = () => undefined;
    source.answer = () => new Promise((resolve) => (answer = resolve));
    source.changed();
    await pass();
    source.changed();
    models?.onModuleDestroy();
    answer([definition('new')]);
    await pass(2 * REFRESH_MS);
    expect([source.asked, vi.getTimerCount()]).toEqual([2, 0]);
  });
});
