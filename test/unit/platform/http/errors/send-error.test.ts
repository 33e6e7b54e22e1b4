import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../../src/platform/common/service-error.js';
import { errorBody } from '../../../../../src/platform/http/errors/send-error.js';

const text = fc
  .tuple(fc.constantFrom('x', '\u0000', '"', '中', '😀', '\ud800', '\u2028'), fc.integer({ min: 0, max: 20_000 }))
  .map(([unit, length]) => unit.repeat(length));
const details = fc.array(fc.record({ field: text, message: text }), { maxLength: 40 });

describe('the body of an error', () => {
  it('is below 16 KB, and names at most 20 fields, whatever it repeats', () => {
    fc.assert(
      fc.property(text, fc.option(details, { nil: undefined }), (message, given) => {
        const error = new ServiceError('invalid_request', message, given && { details: given });
        const { error: sent } = errorBody(error, 'i'.repeat(128));
        expect(Buffer.byteLength(JSON.stringify({ error: sent }))).toBeLessThan(16_000);
        expect(sent.details?.length).toBe(given && Math.min(given.length, sent.details?.length ?? 0, 20));
        if (given !== undefined && given.length > 0) expect(sent.details?.length).toBeGreaterThan(0);
        for (const { field } of sent.details ?? []) expect(field.length).toBeLessThanOrEqual(200);
      }),
    );
  });

  it('leaves short texts as they are', () => {
    const given = Array.from({ length: 20 }, (_, index) => ({
      field: `messages.${index}.content`,
      message: 'is wrong',
    }));
    const { error } = errorBody(new ServiceError('invalid_request', 'No.', { details: given }), 'id');
    expect(error).toEqual({ code: 'invalid_request', message: 'No.', request_id: 'id', details: given });
  });

  it('is cut at whole code points', () => {
    const { message } = new ServiceError('invalid_request', `x${'😀'.repeat(2000)}`);
    expect(message.endsWith('😀…')).toBe(true);
    expect(Buffer.from(message).toString()).toBe(message);
  });
});
