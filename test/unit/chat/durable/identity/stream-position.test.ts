import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPosition, offsetOf, positionTag } from '../../../../../src/chat/durable/identity/stream-position.js';

describe('a position in a stream', () => {
  const tag = positionTag('a stream');

  it('begins with what only this stream has', () => {
    expect(tag).toMatch(/^[\w-]{8}$/);
    expect(positionTag('another')).not.toBe(tag);
  });

  it('is read back, for any offset', () => {
    expect(formatPosition('12345678', 71)).toBe('12345678-1z');
    fc.assert(
      fc.property(fc.nat(), (offset) => {
        expect(offsetOf(formatPosition(tag, offset), tag)).toBe(offset);
      }),
    );
  });

  it.each([
    '',
    tag,
    `${tag}-`,
    `${tag}-0x`.toUpperCase(),
    `${tag}-1_`,
    `x${tag}-1`,
    `${tag}-1\n`,
    `${tag}-${'1'.repeat(10)}`,
  ])('is not %j', (sent) => {
    const problem = { code: 'invalid_request', details: [{ field: 'Last-Event-ID' }] };
    expect(() => offsetOf(sent, tag)).toThrow(expect.objectContaining({ code: problem.code }));
  });

  it('of another stream is refused, by the name of the header', () => {
    const sent = formatPosition(positionTag('another'), 5);
    expect(() => offsetOf(sent, tag)).toThrow(
      expect.objectContaining({
        details: [{ field: 'Last-Event-ID', message: 'must be the id of an event of this stream' }],
      }),
    );
  });
});
