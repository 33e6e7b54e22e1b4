import { describe, expect, it } from 'vitest';
import { pageOfDaySums } from '../../../../src/usage/queries/day-sums.js';
import { SUMS } from './rows.js';

describe('a page of daily sums', () => {
  it('of one account is in the order of its index', () => {
    const request = { from: '2026-11-01', before: '2026-11-22', accountId: 'ada', after: undefined, limit: 500 };
    expect(pageOfDaySums('postgres', request)).toEqual([
      'SELECT * FROM usage_days WHERE account_id = $1 AND day >= $2 AND day < $3 ' +
        'ORDER BY day, model, key_id, credential, currency LIMIT 500',
      ['ada', '2026-11-01', '2026-11-22'],
    ]);
    expect(pageOfDaySums('postgres', { ...request, after: SUMS })).toEqual([
      'SELECT * FROM usage_days WHERE account_id = $1 AND ' +
        '(day, model, key_id, credential, currency) > ($2,$3,$4,$5,$6) AND day < $7 ' +
        'ORDER BY day, model, key_id, credential, currency LIMIT 500',
      ['ada', '2026-11-21', 'acme/fast', 'laptop', 'api_key', 'USD', '2026-11-22'],
    ]);
  });

  it('of all accounts is in the order of its index, too', () => {
    const request = { from: '2026-11-01', before: '2026-11-22', accountId: undefined, after: SUMS, limit: 7 };
    expect(pageOfDaySums('sqlite', request)).toEqual([
      'SELECT * FROM usage_days WHERE (day, account_id, model, key_id, credential, currency) > (?,?,?,?,?,?) ' +
        'AND day < ? ORDER BY day, account_id, model, key_id, credential, currency LIMIT 7',
      ['2026-11-21', 'ada', 'acme/fast', 'laptop', 'api_key', 'USD', '2026-11-22'],
    ]);
  });
});
