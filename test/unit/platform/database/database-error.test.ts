import { describe, expect, it } from 'vitest';
import { isLostConnection } from '../../../../src/platform/database/database-error.js';

const failure = (code: string): Error => Object.assign(new Error('failed'), { code });

describe('a failure of the database', () => {
  it.each([
    'ECONNREFUSED',
    'ECONNRESET',
    'ECONNABORTED',
    'EPIPE',
    'ETIMEDOUT',
    'EHOSTUNREACH',
    'EHOSTDOWN',
    'ENETUNREACH',
    'ENETDOWN',
    'ENOTFOUND',
    'EAI_AGAIN',
    'ENOENT',
    '57P01',
    '57P02',
    '57P03',
    '08006',
  ])('with the code %s means that the connection is lost', (code) => {
    expect(isLostConnection(failure(code))).toBe(true);
  });

  it.each([
    ['Connection terminated unexpectedly', true],
    ['Client has encountered a connection error and is not queryable', true],
    ['Client was closed and is not queryable', true],
    ['timeout exceeded when trying to connect', false],
    ['Query read timeout', false],
  ])('without a code and with the message "%s" means that: %s', (message, isLost) => {
    expect(isLostConnection(new Error(message))).toBe(isLost);
  });

  // Load can cause these: a timeout of a statement, too many connections, a full disk.
  it.each(['57014', '53300', '53100', '40001', '23505'])('with the code %s does not mean that', (code) => {
    expect(isLostConnection(failure(code))).toBe(false);
  });
});
