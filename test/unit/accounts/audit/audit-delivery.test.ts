import { describe, expect, it, vi } from 'vitest';
import { AUDIT_SINKS, AuditDelivery, type SinkPositions } from '../../../../src/accounts/audit/audit-delivery.js';
import type { AuditLog } from '../../../../src/accounts/audit/audit-log.js';
import { extensionsOf } from '../../../support/extensions.js';

describe('the names of audit sinks', () => {
  it.each([
    [['siem', 'siem'], 'Two audit sinks have the name "siem"'],
    [[''], 'must be 1 to 100 letters'],
    [['two words'], 'must be 1 to 100 letters'],
  ])('%j are refused when the service starts', (names, problem) => {
    const sinks = names.map((name) => ({ name, deliver: () => Promise.resolve() }));
    const extensions = extensionsOf(AUDIT_SINKS, sinks);
    const delivery = new AuditDelivery({} as AuditLog, {} as SinkPositions, () => Date.now(), extensions);
    expect(() => {
      delivery.onModuleInit();
    }).toThrow(problem);
  });
});

describe('the entries of the audit log', () => {
  it('count as delivered after the sink has taken them, not before', async () => {
    const steps: string[] = [];
    let refusals = 1;
    const entry = { id: 'entry-1', at: '2026-11-27T00:00:00.000Z' };
    const sink = {
      name: 'siem',
      deliver: () => {
        steps.push('delivered');
        return refusals-- > 0 ? Promise.reject(new Error('The sink is unavailable.')) : Promise.resolve();
      },
    };
    const log = { following: () => Promise.resolve([entry]) };
    const positions = {
      lease: () => Promise.resolve(''),
      advance: (_: string, time: string) => {
        steps.push(`until ${time}`);
        return Promise.resolve(true);
      },
      release: () => Promise.resolve(),
    };
    vi.useFakeTimers();
    try {
      const delivery = new AuditDelivery(
        log as unknown as AuditLog,
        positions as unknown as SinkPositions,
        () => Date.now(),
        extensionsOf(AUDIT_SINKS, [sink]),
      );
      delivery.onModuleInit();
      delivery.onApplicationBootstrap();
      await vi.advanceTimersByTimeAsync(1);
      expect(steps).toEqual(['delivered']);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(steps).toEqual(['delivered', 'delivered', `until ${entry.at}`]);
      await delivery.beforeApplicationShutdown();
    } finally {
      vi.useRealTimers();
    }
  });
});
