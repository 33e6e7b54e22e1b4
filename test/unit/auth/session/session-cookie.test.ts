import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { SessionCookie } from '../../../../src/auth/session/session-cookie.js';
import { requestWith } from '../requests.js';

describe('the session cookie', () => {
  const NOW = 1_000_000;
  const cookie = new SessionCookie(() => NOW);
  let headers: [name: string, value: unknown][];
  let response: ServerResponse;

  beforeEach(() => {
    headers = [];
    const note = (name: string, value: unknown) => headers.push([name, value]);
    response = { appendHeader: note, setHeader: note } as unknown as ServerResponse;
  });

  it('lives for the whole seconds that are left of the session, and is in no cache', () => {
    cookie.set(response, 'token', new Date(NOW + 5999));
    expect(headers).toEqual([
      ['Set-Cookie', '__Host-session=token; Max-Age=5; Path=/; Secure; HttpOnly; SameSite=Lax'],
      ['Cache-Control', 'no-store'],
    ]);
  });

  it('is removed by an empty one without a lifetime', () => {
    cookie.clear(response);
    expect(headers).toEqual([
      ['Set-Cookie', '__Host-session=; Max-Age=0; Path=/; Secure; HttpOnly; SameSite=Lax'],
      ['Cache-Control', 'no-store'],
    ]);
  });

  it.each([
    ['__Host-session=a', 'a'],
    ['other=1; __Host-session=a; more=2', 'a'],
    ['other=1; \t __Host-session=a', 'a'],
    ['__Host-session=a=b', 'a=b'],
    ['__Host-session=', ''],
    ['__Host-session', undefined],
    ['__Host-session2=a', undefined],
    ['x__Host-session=a', undefined],
    ['\u00a0__Host-session=a', undefined],
    ['__host-session=a', undefined],
    ['__Host-session=a; __Host-session=b', undefined],
    ['', undefined],
  ])('is read from %j', (text, token) => {
    expect(cookie.read(requestWith({ cookie: text }))).toBe(token);
  });

  it('is not there without the header', () => {
    expect(cookie.read(requestWith({}))).toBeUndefined();
  });
});
