import { describe, expect, it } from 'vitest';
import { isDataFailure, isLostRace } from '../../../../../src/platform/database/queries/query-failure.js';

const failure = (code: string): Error => Object.assign(new Error('failed'), { code });

describe('a failure of a query', () => {
  it.each([
    '21000',
    '22003',
    '23505',
    '44000',
    '54000',
    'SQLITE_CONSTRAINT_UNIQUE',
    'SQLITE_TOOBIG',
    'SQLITE_MISMATCH',
  ])('with the code %s is caused by the data', (code) => {
    expect(isDataFailure(failure(code))).toBe(true);
  });

  it.each(['40001', '53200', '57014', 'SQLITE_BUSY', 'SQLITE_FULL', 'ECONNRESET'])(
    'with the code %s is not caused by the data',
    (code) => {
      expect(isDataFailure(failure(code))).toBe(false);
    },
  );

  it.each([
    ['40001', true],
    ['40P01', true],
    ['23505', false],
    ['55P03', false],
  ])('with the code %s is a lost race: %s', (code, isLost) => {
    expect(isLostRace(failure(code))).toBe(isLost);
  });
});
