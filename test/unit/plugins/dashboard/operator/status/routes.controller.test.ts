import { describe, expect, it } from 'vitest';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { StateText } from '../../../../../../src/plugins/dashboard/operator/status/routes.controller.js';
import type { UpstreamStatus } from '../../../../../../src/plugins/dashboard/operator/status/service-status.js';

const AT = Date.parse('2026-11-20T10:00:00.000Z');
const NAMES = { name: 'acme', model: 'fast' } as const;

const stateText = (status: UpstreamStatus, at: number) =>
  renderToString(h(StateText, { status, at })).replaceAll(/<[^>]+>/g, '');

describe('the state of a route', () => {
  it('says until when a cooldown lasts, since when, and why', () => {
    const cooldown = { ...NAMES, state: 'open', waitMs: 90_000, isCooldown: true, openForMs: 30_000 } as const;
    expect(stateText({ ...cooldown, failure: 'upstream_unavailable' }, AT)).toBe(
      'until 10:01:30 UTC, as the provider asked since 09:59:30 UTC (30 s), after upstream_unavailable',
    );
    expect(stateText(cooldown, AT)).toContain('as another replica was told');
  });

  it('says since when and until when a circuit is open, and why', () => {
    const open = { ...NAMES, state: 'open', waitMs: 5_000, isCooldown: false, openForMs: 150_000 } as const;
    expect(stateText({ ...open, failure: 'upstream_timeout' }, AT)).toBe(
      'since 09:57:30 UTC (2 min), until 10:00:05 UTC, after upstream_timeout',
    );
    expect(stateText({ ...open, state: 'half_open', failure: 'upstream_error' }, AT)).toBe(
      'since 09:57:30 UTC (2 min): one request at a time may try, after upstream_error',
    );
  });

  it('says why the last attempt failed while requests may try', () => {
    const failing = { ...NAMES, state: 'closed', waitMs: 0, isCooldown: false, failedForMs: 2_000 } as const;
    expect(stateText({ ...failing, failure: 'upstream_error (unauthorized, HTTP 401)' }, AT)).toBe(
      'last at 09:59:58 UTC: upstream_error (unauthorized, HTTP 401)',
    );
  });

  it('says nothing of a route that is available', () => {
    expect(stateText({ ...NAMES, state: 'closed', waitMs: 0, isCooldown: false }, AT)).toBe('');
  });
});
