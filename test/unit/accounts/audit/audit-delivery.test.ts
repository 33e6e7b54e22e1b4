import { describe, expect, it } from 'vitest';
import { AuditDelivery } from '../../../../src/accounts/audit/audit-delivery.js';
import type { AuditLog } from '../../../../src/accounts/audit/audit-log.js';
import { AUDIT_SINKS } from '../../../../src/accounts/audit/audit-sink.js';
import type { SinkPositions } from '../../../../src/accounts/audit/sink-positions.js';
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
