import { describe, expect, it } from 'vitest';
import { recordedFinishReason } from '../../../../src/upstreams/completion/finish-reason.js';

describe('the finish reason of a usage record', () => {
  it.each(['stop', 'end_turn', 'MAX_TOKENS'])('is that of the provider: %s', (raw) => {
    expect(recordedFinishReason(raw, 'other')).toBe(raw);
  });

  it.each(['my password is hunter2', 'constructor', '', 'x'.repeat(1_000_000)])(
    'is that of the service when the provider sends another text',
    (raw) => {
      expect([recordedFinishReason(raw, 'other'), recordedFinishReason(raw, 'stop')]).toEqual(['other', 'stop']);
    },
  );
});
