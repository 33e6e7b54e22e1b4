import { describe, expect, it } from 'vitest';
import { mergedByTime, type TimePosition } from '../../../../../src/platform/database/queries/page-by-time.js';

const at = (second: number, id = 'a'): TimePosition => ({ time: `2026-11-20T10:00:0${second}.000Z`, id });
const merge = (pages: Parameters<typeof mergedByTime<TimePosition>>[0], limit: number) =>
  mergedByTime(pages, (row) => row, limit);

describe('pages of several lists', () => {
  it('become one page, latest first, which ends with its last row', () => {
    const pages = [
      { rows: [at(5), at(2)], next: undefined },
      { rows: [at(4), at(2, 'b')], next: undefined },
    ];
    expect(merge(pages, 3)).toEqual({ rows: [at(5), at(4), at(2, 'b')], next: at(2, 'b') });
    expect(merge(pages, 4)).toEqual({ rows: [at(5), at(4), at(2, 'b'), at(2)], next: undefined });
  });

  it('leave out rows that are older than the end of an incomplete page, and go on from there', () => {
    const pages = [
      { rows: [at(5), at(1)], next: undefined },
      { rows: [at(4)], next: at(3) },
    ];
    expect(merge(pages, 10)).toEqual({ rows: [at(5), at(4)], next: at(3) });
  });
});
