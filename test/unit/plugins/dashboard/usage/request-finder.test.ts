import { describe, expect, it } from 'vitest';
import { periodIn } from '../../../../../src/plugins/dashboard/usage/request-finder.js';

const NOW = Date.parse('2026-11-27T14:05:00Z');

describe('a period of a list of requests', () => {
  const boundsOf = (from?: string, to?: string) => {
    const period = periodIn({ from, to }, NOW);
    return [period.from?.toISOString().slice(0, 19), period.to?.toISOString().slice(0, 19)];
  };

  it('includes the whole day, minute or second that is written as its end', () => {
    expect(boundsOf('2026-11-26', '2026-11-26')).toEqual(['2026-11-26T00:00:00', '2026-11-27T00:00:00']);
    expect(boundsOf('2026-11-26 14:03', '2026-11-26T14:03Z')).toEqual(['2026-11-26T14:03:00', '2026-11-26T14:04:00']);
    expect(boundsOf(undefined, '2026-11-26 9:03:20 UTC')).toEqual([undefined, '2026-11-26T09:03:21']);
    expect(boundsOf('2026-11-26T14:03:20.123Z')).toEqual(['2026-11-26T14:03:20', undefined]);
  });

  it('means the latest time if no day is written, and the end that follows the beginning', () => {
    expect(boundsOf('14:03')).toEqual(['2026-11-27T14:03:00', undefined]);
    expect(boundsOf('14:06')).toEqual(['2026-11-26T14:06:00', undefined]);
    expect(boundsOf(undefined, '14:06')).toEqual([undefined, '2026-11-26T14:07:00']);
    expect(boundsOf('14:00', '14:10')).toEqual(['2026-11-27T14:00:00', '2026-11-27T14:11:00']);
    expect(boundsOf('14:03', '14:03')).toEqual(['2026-11-27T14:03:00', '2026-11-27T14:04:00']);
    expect(boundsOf('23:50', '0:10')).toEqual(['2026-11-26T23:50:00', '2026-11-27T00:11:00']);
    expect(boundsOf('2026-11-20 23:50', '0:10')).toEqual(['2026-11-20T23:50:00', '2026-11-21T00:11:00']);
  });

  it('has the days in the texts of a link', () => {
    expect(periodIn({ from: '23:50:05', to: '0:10' }, NOW).exact).toEqual({
      from: '2026-11-26 23:50:05',
      to: '2026-11-27 00:10',
    });
    const written = { from: '2026-11-26', to: '2026-11-26T14:03Z' };
    expect(periodIn(written, NOW).exact).toEqual(written);
    expect(periodIn({}, NOW).exact).toEqual({ from: undefined, to: undefined });
  });

  it.each(['noon', '24:00', '2026-13-01', '14:03 CET', '', '14'])('names %j as no time', (text) => {
    const { from, to, wrong } = periodIn({ from: text, to: '14:03' }, NOW);
    expect([from, to?.toISOString(), wrong]).toEqual([undefined, '2026-11-27T14:04:00.000Z', text]);
    expect(periodIn({ to: text }, NOW).wrong).toBe(text);
  });
});
