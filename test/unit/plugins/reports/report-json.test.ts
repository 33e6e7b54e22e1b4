import { describe, expect, it } from 'vitest';
import { reportJson } from '../../../../src/plugins/reports/report-json.js';
import { wireUsage } from '../../../../src/usage/queries/usage.dto.js';
import { type UsageRow } from '../../../../src/usage/queries/usage-reports.js';
import { TODAY, TOMORROW, ROW, FIGURES, pagesOf } from '../../usage/queries/rows.js';

describe('a report as JSON', () => {
  const jsonOf = async (...pages: (readonly UsageRow[])[]) =>
    Buffer.concat(await reportJson({ from: TODAY, to: TOMORROW }, pagesOf(...pages))).toString();

  it('has the days of its period, and the rows of all pages', async () => {
    const entry = { day: '2026-11-21', model: 'acme/fast', key: { id: 'laptop', prefix: 'csk_1' }, ...FIGURES };
    const session = { ...ROW, keyId: null, keyPrefix: null, cost: undefined, currency: null };
    expect(await jsonOf([], [ROW, session], [], [ROW])).toBe(
      JSON.stringify({
        from: '2026-11-21',
        to: '2026-11-21',
        budget: null,
        usage: [entry, { ...entry, key: null, cost: null, currency: null }, entry],
      }),
    );
  });

  it('has an empty list without rows', async () => {
    expect(await jsonOf()).toBe('{"from":"2026-11-21","to":"2026-11-21","budget":null,"usage":[]}');
    expect(await jsonOf([])).toBe('{"from":"2026-11-21","to":"2026-11-21","budget":null,"usage":[]}');
  });

  it('has an empty prefix for a key without one, and 0 where something was free', async () => {
    expect(await jsonOf([{ ...ROW, keyPrefix: null }])).toContain('"key":{"id":"laptop","prefix":""}');
    expect(wireUsage({ ...ROW, cost: 0 })).toEqual({ ...FIGURES, cost: 0 });
  });
});
