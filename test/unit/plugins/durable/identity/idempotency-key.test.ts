import { describe, expect, it } from 'vitest';
import { checkedIdempotencyKey } from '../../../../../src/plugins/durable/idempotency-keys.js';

describe('an Idempotency-Key', () => {
  it.each(['a', '!~', 'x'.repeat(255), '0b8f2d0e-6f6b-4b52-8a2c-0f6f3f5d8f51'])('may be %j', (key) => {
    expect(checkedIdempotencyKey(key)).toBe(key);
  });

  it.each(['', ' ', 'a b', 'a, b', 'é', 'x'.repeat(256), 'a\n', '\x7f', ['a']])('may not be %j', (key) => {
    expect(() => checkedIdempotencyKey(key)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }],
      }),
    );
  });
});
