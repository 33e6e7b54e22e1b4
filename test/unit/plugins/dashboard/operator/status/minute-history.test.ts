import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../../../../src/platform/common/clock.js';
import { MinuteHistory, type Totals } from '../../../../../../src/plugins/dashboard/operator/status/minute-history.js';

const totals = (requests: number, openStreams = 0): Totals => ({
  requests,
  errors: requests / 2,
  refused: 0,
  openStreams,
});

describe('the history of minutes', () => {
  it('has the difference of each minute, and the present minute so far', () => {
    const history = new MinuteHistory(totals(10), 5 * MINUTE_MS + 20_000);
    history.tick(totals(14, 3), 6 * MINUTE_MS + 1);
    history.tick(totals(20, 1), 7 * MINUTE_MS + 1);
    expect(history.minutes(totals(22, 2), 7 * MINUTE_MS + 30_000)).toEqual([
      { minute: 5, requests: 4, errors: 2, refused: 0, openStreams: 3 },
      { minute: 6, requests: 6, errors: 3, refused: 0, openStreams: 1 },
      { minute: 7, requests: 2, errors: 1, refused: 0, openStreams: 2 },
    ]);
  });

  it('keeps 60 minutes, also after a pause in which nothing was measured', () => {
    const history = new MinuteHistory(totals(0), 0);
    for (let minute = 1; minute <= 100; minute++) history.tick(totals(minute), minute * MINUTE_MS);
    const kept = history.minutes(totals(100), 100 * MINUTE_MS).map(({ minute }) => minute);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([61, 40, 100]);
    const later = history.minutes(totals(100), 150 * MINUTE_MS).map(({ minute }) => minute);
    expect([later[0], later.at(-2), later.at(-1)]).toEqual([90, 100, 150]);
  });

  it('ends a minute once', () => {
    const history = new MinuteHistory(totals(0), 0);
    history.tick(totals(1), MINUTE_MS);
    history.tick(totals(2), MINUTE_MS + 10);
    expect(history.minutes(totals(3), MINUTE_MS + 20)).toMatchObject([
      { minute: 0, requests: 1 },
      { minute: 1, requests: 2 },
    ]);
  });
});
