import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { readForm, isUtf8MediaType } from '../../../../../../src/platform/http/body/form/form-body.js';
import type { BodyReader } from '../../../../../../src/platform/http/body/read-body.js';
import fc from 'fast-check';
import { leastMs } from '../../../../../support/least-ms.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function read(text: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const reader = { read: () => Promise.resolve(Buffer.from(text)) };
  const request = { headers: { ...FORM, ...headers } } as unknown as Request;
  return readForm(request, {} as Response, reader as unknown as BodyReader);
}

describe('a form', () => {
  it('has its fields, with escapes', async () => {
    expect(await read('email=a%40b&name=%C3%A9+x')).toEqual({ email: 'a@b', name: 'é x' });
  });

  it('may not be compressed', async () => {
    expect(await read('a=1', { 'content-encoding': 'identity' })).toEqual({ a: '1' });
    await expect(read('a=1', { 'content-encoding': 'gzip' })).rejects.toMatchObject({ code: 'unsupported_media_type' });
  });

  it.each([
    ['email=a&email=b', 'email', 'appears twice'],
    ['constructor=a', 'constructor', 'is not a known field'],
  ])('may not be ambiguous: %s', async (text, field, message) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'invalid_request', details: [{ field, message }] });
  });

  it('has at most 100 fields', async () => {
    const fields = (count: number) => Array.from({ length: count }, (_, index) => `f${index}=1`).join('&');
    expect(Object.keys((await read(fields(100))) as object)).toHaveLength(100);
    await expect(read(fields(101))).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it.each(['password=%FF', 'password=%E0%A4', 'password=%'])(
    'may not have escapes that are no UTF-8: %s',
    async (text) => {
      await expect(read(text)).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );
});

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
