import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ValidityWatch } from '../../../../src/accounts/credentials/validity-watch.js';

const POLL_MS = 1_000;

let invalid: Set<string>;
let lookups: (readonly string[])[];
let answering: () => Promise<void>;
let watch: Watch;

class Watch extends ValidityWatch {
  protected override async validOf(ids: readonly string[]): Promise<ReadonlySet<string>> {
    lookups.push(ids);
    await answering();
    return new Set(ids.filter((id) => !invalid.has(id)));
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  invalid = new Set();
  lookups = [];
  answering = () => Promise.resolve();
  watch = new Watch();
});
afterEach(() => {
  watch.onModuleDestroy();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
const watched = (): number => (Reflect.get(watch, 'listeners') as Map<string, unknown>).size;

describe('a watched credential', () => {
  it('is queried once a second, by one timer that does not keep the process alive', async () => {
    watch.watch('one', vi.fn());
    watch.watch('two', vi.fn());
    expect(vi.getTimerCount()).toBe(1);
    expect((Reflect.get(watch, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
    await pass(POLL_MS - 1);
    expect(lookups).toEqual([]);
    await pass(1);
    expect(lookups).toEqual([['one', 'two']]);
    await pass(POLL_MS);
    expect(lookups).toHaveLength(2);
  });

  it('that has ended notifies all its watchers once, and no others', async () => {
    const [first, second, other] = [vi.fn(), vi.fn(), vi.fn()];
    watch.watch('one', first);
    watch.watch('one', second);
    watch.watch('two', other);
    invalid.add('one');
    await pass(2 * POLL_MS);
    expect([first, second, other].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 0]);
    expect(lookups).toEqual([['one', 'two'], ['two']]);
    expect([watch.hasEnded('one'), watch.hasEnded('two'), watched()]).toEqual([true, false, 1]);
  });

  it('notifies a function that watches twice two times', async () => {
    const onEnded = vi.fn();
    watch.watch('one', onEnded);
    const unwatch = watch.watch('one', onEnded);
    invalid.add('one');
    unwatch();
    watch.watch('one', onEnded);
    await pass(POLL_MS);
    expect(onEnded).toHaveBeenCalledTimes(2);
  });

  it('is queried in batches of five hundred', async () => {
    for (let number = 0; number < 501; number++) watch.watch(String(number), vi.fn());
    await pass(POLL_MS);
    expect(lookups.map(({ length }) => length)).toEqual([500, 1]);
  });

  it('is not queried again before there is a result, but afterwards, also after a failure', async () => {
    let fail: (error: Error) => void = () => undefined;
    answering = () => new Promise((_, reject) => (fail = reject));
    const onEnded = vi.fn();
    invalid.add('one');
    watch.watch('one', onEnded);
    await pass(3 * POLL_MS);
    expect(lookups).toHaveLength(1);
    fail(new Error('away'));
    answering = () => Promise.resolve();
    await pass(POLL_MS);
    expect([lookups.length, onEnded.mock.calls.length]).toEqual([2, 1]);
  });
});

describe('the end of a watch', () => {
  it('leaves the others, and ends the questions after the last', async () => {
    const [first, second] = [vi.fn(), vi.fn()];
    const unwatch = watch.watch('one', first);
    const last = watch.watch('one', second);
    unwatch();
    unwatch();
    invalid.add('one');
    expect([watched(), vi.getTimerCount()]).toEqual([1, 1]);
    await pass(POLL_MS);
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 1]);
    last();
    expect([watched(), vi.getTimerCount()]).toEqual([0, 0]);
    await pass(2 * POLL_MS);
    expect(lookups).toHaveLength(1);
  });

  it('does not end a later watch of the same credential', async () => {
    const unwatch = watch.watch('one', vi.fn());
    watch.notify('one');
    watch.confirm('one', performance.now() + 1);
    const onEnded = vi.fn();
    watch.watch('one', onEnded);
    unwatch();
    expect(watched()).toBe(1);
    invalid.add('one');
    await pass(POLL_MS);
    expect(onEnded).toHaveBeenCalledTimes(1);
  });

  it('comes with the end of the process, for all', async () => {
    const onEnded = vi.fn();
    watch.watch('one', onEnded);
    watch.onModuleDestroy();
    watch.notify('one');
    await pass(2 * POLL_MS);
    expect([lookups, onEnded.mock.calls.length]).toEqual([[], 0]);
  });
});

describe('a credential that this process has ended', () => {
  it('notifies at once, and later watchers after they have continued', async () => {
    const [early, late] = [vi.fn(), vi.fn()];
    watch.watch('one', early);
    watch.notify('one');
    expect(early).toHaveBeenCalledTimes(1);
    watch.watch('one', late);
    expect(late).not.toHaveBeenCalled();
    await Promise.resolve();
    expect(late).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is valid again when a later query finds it valid, not by an earlier query', async () => {
    await pass(5);
    watch.notify('one');
    watch.confirm('one', performance.now() - 1);
    expect(watch.hasEnded('one')).toBe(true);
    watch.confirm('one', performance.now() + 1);
    expect(watch.hasEnded('one')).toBe(false);
    watch.confirm('two', performance.now());
    expect(watch.hasEnded('two')).toBe(false);
  });
});
