import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../../../../../../src/platform/common/service-error.js';
import {
  adviceOn,
  waitText,
  type KeptFailure,
} from '../../../../../../../src/plugins/dashboard/static/playground/answer/failure-advice.js';

const failure = (facts: Partial<KeptFailure>): KeptFailure => ({
  kind: 'refused',
  message: 'What the service says.',
  status: undefined,
  code: undefined,
  details: [],
  requestId: undefined,
  retryAt: undefined,
  ...facts,
});
const refused = (facts: Partial<KeptFailure>) => adviceOn(failure(facts), false);

describe('the advice on a failure', () => {
  it.each(Object.entries(ERRORS))('of %s says what it is and whether to try again', (code, { status }) => {
    const advice = refused({ status, code, retryAt: status === 429 ? Date.now() + 60_000 : undefined });
    expect(advice.title).not.toBe('');
    expect(advice.text).not.toBe('');
    // What is wrong with a request stays wrong.
    const isWrong = (['invalid_request', 'upstream_rejected', 'payload_too_large'] as ErrorCode[]).some(
      (wrong) => wrong === code,
    );
    if (isWrong) expect(advice.canRetry).toBe(false);
    if (status === 401 || status >= 429) expect(advice.canRetry).toBe(true);
  });

  it('of a limit says which, how long to wait, and where to see what is left', () => {
    const advice = refused({ status: 429, code: 'rate_limit_exceeded', retryAt: Date.now() + 41_500 });
    expect(advice).toMatchObject({
      title: 'Too many requests per minute',
      text: 'What the service says.',
      waitSeconds: 42,
      link: { href: '/usage' },
    });
  });

  it('of a wait that is over lets the user try again', () => {
    expect(refused({ status: 429, code: 'rate_limit_exceeded', retryAt: Date.now() - 1 }).waitSeconds).toBeUndefined();
  });
});

describe('the time to wait', () => {
  const now = new Date(2026, 10, 21, 12, 0, 0);

  it.each([
    [500, 'in 1 s'],
    [42_000, 'in 42 s'],
    [150_000, 'in 3 minutes'],
    [8 * 3_600_000, 'in 8 hours'],
  ])('of %i ms is shown', (ms, expected) => {
    expect(waitText(ms, new Date(now.getTime() + ms), now)).toContain(expected);
  });

  it('names the day when it is another one', () => {
    const tomorrow = new Date(2026, 10, 22, 1, 0, 0);
    expect(waitText(13 * 3_600_000, tomorrow, now)).toContain('22');
    expect(waitText(1000, new Date(now.getTime() + 1000), now)).not.toContain('21');
  });
});
