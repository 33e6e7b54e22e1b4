import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { recordAccepted, ownTurn, takeTurn } from '../../../../../src/platform/common/event-loop/event-loop-turns.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const turns = async (count: number) => {
  for (let n = 0; n < count; n++) await turn();
};

describe('work in turns of the event loop', () => {
  let done: string[] = [];
  let now = 0;
  /** Longer than a turn may be that begins more than one piece. */
  const work = (name: string, isProbe = false, lastsMs = 2) => {
    takeTurn(() => {
      now += lastsMs;
      done.push(name);
    }, isProbe);
  };

  // Only the work takes time: a busy machine makes no turn longer.
  beforeEach(() => {
    vi.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(async () => {
    await turns(100);
    vi.restoreAllMocks();
    done = [];
  });

  it('begins at once where there is no other', () => {
    work('a');
    expect(done).toEqual(['a']);
  });

  it('shares a turn while that is short', () => {
    for (const name of ['a', 'b', 'c']) work(name, false, 0);
    expect(done).toEqual(['a', 'b', 'c']);
  });

  it('is one long piece in each turn, in order', async () => {
    for (const name of ['a', 'b', 'c']) work(name);
    const seen: number[] = [done.length];
    for (let n = 0; n < 3; n++) {
      await turn();
      seen.push(done.length);
    }
    expect(done).toEqual(['a', 'b', 'c']);
    expect(seen.every((count, index) => index === 0 || count - (seen[index - 1] ?? 0) <= 1)).toBe(true);
  });

  it('leaves every second turn to probes, and no more', async () => {
    for (const name of ['a', 'b', 'c', 'd']) work(name);
    for (const name of ['p', 'q']) work(name, true);
    await turns(10);
    expect(done).toEqual(['a', 'p', 'b', 'q', 'c', 'd']);
  });

  it('goes on where a piece of it waits for a turn of its own', async () => {
    const long = (async () => {
      await ownTurn();
      done.push('long 1');
      await ownTurn();
      done.push('long 2');
    })();
    for (const name of ['a', 'b', 'c']) work(name);
    await long;
    await turns(10);
    expect(done).toEqual(['long 1', 'a', 'b', 'c', 'long 2']);
  });

  it('waits while connections are accepted, but not for ever', async () => {
    recordAccepted();
    work('a');
    let accepted = 0;
    while (done.length === 0 && accepted < 1_000) {
      await turn();
      recordAccepted();
      accepted += 1;
    }
    expect(accepted).toBeGreaterThan(2);
    expect(accepted).toBeLessThan(50);
  });
});
