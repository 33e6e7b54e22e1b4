import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUtf8MediaType } from '../../../../../src/platform/http/body/media-type.js';
import { leastMs } from '../../../../support/least-ms.js';

const JSON_TYPE = 'application/json';

describe('the media type of a body', () => {
  it.each([
    'application/json',
    'Application/JSON',
    'application/json;',
    'application/json ;',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json\t;\tcharset = utf-8\t; ',
    'application/json; charset=utf-8;',
    ' application/json ',
    // Empty parameters, which RFC 9110 allows.
    'application/json;;charset=utf-8',
  ])('is JSON in UTF-8 in %j', (contentType) => {
    expect(isUtf8MediaType(contentType, JSON_TYPE)).toBe(true);
  });

  it.each([
    undefined,
    '',
    ';',
    'application/jsonp',
    'application/json, text/html',
    'application/json charset=utf-8',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/json; charset=',
    'application/json; charset="utf-8',
    'application/json; charset=utf-8; charset=utf-8',
    'application/json; charset=utf-8; boundary=x',
    'application/json; version=1',
    'application/json; charset',
    'application/json; =utf-8',
    'text/json',
    `application/json${' '.repeat(1_000)}`,
    `application/json${';'.repeat(1_000)}`,
  ])('is not JSON in UTF-8 in %j', (contentType) => {
    expect(isUtf8MediaType(contentType, JSON_TYPE)).toBe(false);
  });

  it('is read in a moment, whatever a header of 16 KB holds', () => {
    const piece = fc.constantFrom(' ', '\t', ';', '; charset', '=', '"', 'utf-8', 'application/json', 'x', '\\', ',');
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 4 }), fc.boolean(), (pieces, isNamed) => {
        const unit = pieces.join('');
        const contentType = (isNamed ? JSON_TYPE : '') + unit.repeat(Math.ceil(16_000 / unit.length));
        expect(leastMs(() => isUtf8MediaType(contentType, JSON_TYPE))).toBeLessThan(50);
      }),
    );
  });
});
