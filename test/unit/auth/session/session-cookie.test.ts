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

  it('is not there without the header', () => {
    expect(cookie.read(requestWith({}))).toBeUndefined();
  });
});
