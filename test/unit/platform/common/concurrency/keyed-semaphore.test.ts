import { describe, expect, it } from 'vitest';
import {
  KeyedSemaphore,
  type SemaphoreLimits,
} from '../../../../../src/platform/common/concurrency/keyed-semaphore.js';

/** A semaphore whose tasks end when the test ends them. */
class Stage {
  readonly started: string[] = [];
  readonly refused: string[] = [];
  maxRunning = 0;
  readonly semaphore: KeyedSemaphore;
  private readonly running: (() => void)[] = [];

  constructor(limits: SemaphoreLimits) {
    this.semaphore = new KeyedSemaphore(limits, (limit) => new Error(limit));
  }

  async add(key: string, tasks = 1): Promise<void> {
    for (let n = 0; n < tasks; n++) {
      const task = () => {
        this.started.push(key);
        return new Promise<void>((resolve) => {
          this.maxRunning = Math.max(this.maxRunning, this.running.push(resolve));
        });
      };
      void this.semaphore
        .run(key, task)
        .catch((error: unknown) => this.refused.push(`${key}: ${(error as Error).message}`));
    }
    await settled();
  }

  /** Ends the tasks that began first. */
  async end(tasks = 1): Promise<void> {
    for (let n = 0; n < tasks; n++) {
      this.running.shift()?.();
      await settled();
    }
  }
}

/** Settles all promises that can settle. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('a keyed semaphore', () => {
  it('runs as many tasks as it has permits, and the waiters in their order', async () => {
    const stage = new Stage({ permits: 2, maxWaiters: 10 });
    for (const key of ['a', 'b', 'c', 'd']) await stage.add(key);
    expect(stage.started).toEqual(['a', 'b']);
    await stage.end(4);
    expect(stage.started).toEqual(['a', 'b', 'c', 'd']);
    expect(stage.maxRunning).toBe(2);
  });

  it('runs the first waiter of each key before the second waiter of any key', async () => {
    const stage = new Stage({ permits: 1, maxWaiters: 20 });
    await stage.add('hog', 6);
    await stage.add('ada');
    await stage.add('bob', 2);
    await stage.end(8);
    expect(stage.started.join(' ')).toBe('hog hog ada bob hog bob hog hog hog');
  });

  it('puts a key that comes back behind the other keys', async () => {
    const stage = new Stage({ permits: 1, maxWaiters: 20 });
    await stage.add('hog', 2);
    await stage.add('ada');
    await stage.end();
    await stage.add('hog', 2);
    await stage.end(3);
    expect(stage.started.join(' ')).toBe('hog hog ada hog hog');
  });

  it('refuses tasks of a key that has its share of permits and waiters, and of no other key', async () => {
    const stage = new Stage({ permits: 1, perKey: 2, maxWaiters: 10 });
    await stage.add('hog', 3);
    await stage.add('ada');
    expect(stage.refused).toEqual(['hog: key']);
    await stage.end();
    await stage.add('hog', 2);
    expect(stage.refused).toEqual(['hog: key', 'hog: key']);
    await stage.end(4);
    expect(stage.started).toEqual(['hog', 'hog', 'ada', 'hog']);
  });

  it('refuses a task without a free permit when nothing may wait', async () => {
    const stage = new Stage({ permits: 1 });
    await stage.add('ada');
    await stage.add('bob');
    expect(stage.refused).toEqual(['bob: all']);
  });

  it('makes room for a new key by refusing the key with the most waiters, down to an equal share', async () => {
    const stage = new Stage({ permits: 2, maxWaiters: 6 });
    await stage.add('hog', 10);
    expect(stage.refused).toEqual(Array(2).fill('hog: all'));
    for (const key of ['ada', 'bob', 'cem', 'dan', 'eve']) await stage.add(key);
    expect(stage.refused).toEqual(Array(7).fill('hog: all'));
    await stage.end(20);
    expect([...stage.started].sort().join(' ')).toBe('ada bob cem dan eve hog hog hog');
  });

  it('refuses a new key when no key has more than one waiter', async () => {
    const stage = new Stage({ permits: 1, maxWaiters: 3 });
    for (const key of ['a', 'b', 'c', 'd', 'e']) await stage.add(key);
    expect(stage.refused).toEqual(['e: all']);
  });

  it('counts refused tasks towards no key', async () => {
    const stage = new Stage({ permits: 1, perKey: 2, maxWaiters: 2 });
    await stage.add('one');
    for (const key of ['hog', 'hog', 'ada', 'bob', 'bob', 'bob']) await stage.add(key);
    expect(stage.refused).toEqual(['hog: all', 'bob: all', 'bob: all', 'bob: all']);
    await stage.end(3);
    for (const key of ['hog', 'hog', 'bob']) await stage.add(key);
    expect(stage.refused).toHaveLength(4);
  });

  it('passes the permit of a failed task on, and keeps nothing of its keys in the end', async () => {
    const { semaphore } = new Stage({ permits: 1, perKey: 1, maxWaiters: 2 });
    const outcomes = await Promise.allSettled([
      semaphore.run('a', () => Promise.reject(new Error('broken'))),
      semaphore.run('b', () => Promise.resolve('fine')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    await expect(semaphore.run('a', () => Promise.resolve('again'))).resolves.toBe('again');
    expect(semaphore).toMatchObject({ held: 0, queues: new Map(), admitted: { byKey: new Map(), total: 0 } });
  });
});
