import { describe, expect, it } from 'vitest';
import { FairQueue } from '../../src/accounts/passwords/fair-queue.js';

/** A queue whose jobs end when the test says so. */
class Stage {
  readonly begun: string[] = [];
  readonly refused: string[] = [];
  most = 0;
  private readonly running: (() => void)[] = [];
  private readonly queue: FairQueue;

  constructor(atOnce: number, mayWait: number) {
    this.queue = new FairQueue({ atOnce, mayWait, refusal: () => new Error('full') });
  }

  /** Adds jobs of the party. */
  add(party: string, jobs = 1): void {
    for (let n = 0; n < jobs; n++) {
      const job = () => {
        this.begun.push(party);
        return new Promise<void>((resolve) => {
          this.most = Math.max(this.most, this.running.push(resolve));
        });
      };
      void this.queue.run(party, job).catch(() => this.refused.push(party));
    }
  }

  /** Ends the job that began first. */
  async end(jobs = 1): Promise<void> {
    for (let n = 0; n < jobs; n++) {
      this.running.shift()?.();
      await settled();
    }
  }
}

/** Lets every promise that can settle do so. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe('a fair queue', () => {
  it('runs so many jobs at once, and the others in their order', async () => {
    const stage = new Stage(2, 10);
    for (const party of ['a', 'b', 'c', 'd']) stage.add(party);
    expect(stage.begun).toEqual(['a', 'b']);
    await stage.end(4);
    expect(stage.begun).toEqual(['a', 'b', 'c', 'd']);
    expect(stage.most).toBe(2);
  });

  it('runs the first job of each party before the second job of any', async () => {
    const stage = new Stage(1, 20);
    stage.add('hog', 6);
    stage.add('ada');
    stage.add('bob', 2);
    await stage.end(8);
    expect(stage.begun.join(' ')).toBe('hog hog ada bob hog bob hog hog hog');
  });

  it('lets a party that comes back wait behind the others', async () => {
    const stage = new Stage(1, 20);
    stage.add('hog', 2);
    stage.add('ada');
    await stage.end();
    stage.add('hog', 2);
    await stage.end(3);
    expect(stage.begun.join(' ')).toBe('hog hog ada hog hog');
  });

  it('makes room for a new party by refusing the party with the most, which loses no job that others need', async () => {
    const stage = new Stage(2, 6);
    stage.add('hog', 10);
    await settled();
    expect(stage.refused).toEqual(['hog', 'hog']);
    for (const party of ['ada', 'bob', 'cem', 'dan', 'eve']) stage.add(party);
    await settled();
    expect(stage.refused).toEqual(Array(7).fill('hog'));
    await stage.end(20);
    expect([...stage.begun].sort().join(' ')).toBe('ada bob cem dan eve hog hog hog');
  });

  it('refuses a new job when no party has more than one waiting', async () => {
    const stage = new Stage(1, 3);
    for (const party of ['a', 'b', 'c', 'd', 'e']) stage.add(party);
    await settled();
    expect(stage.refused).toEqual(['e']);
  });

  it('goes on after a job that fails, and is empty in the end', async () => {
    const queue = new FairQueue({ atOnce: 1, mayWait: 2, refusal: () => new Error('full') });
    const outcomes = await Promise.allSettled([
      queue.run('a', () => Promise.reject(new Error('broken'))),
      queue.run('b', () => Promise.resolve('fine')),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    await expect(queue.run('a', () => Promise.resolve('again'))).resolves.toBe('again');
  });
});
