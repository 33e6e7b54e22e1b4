import { Reflector } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { SameOriginGuard } from '../../../../src/auth/same-origin/same-origin.guard.js';
import { requestWith, contextOf, SESSION } from '../requests.js';

describe('the guard of origins', () => {
  const guard = new SameOriginGuard(new Reflector());
  const app = { get: () => 0 };
  const post = (headers: Record<string, string>, method = 'POST') =>
    contextOf(requestWith({ host: 'chat.example', ...headers }, { session: SESSION }, { method, app, socket: {} }));

  it.each(['GET', 'HEAD', 'OPTIONS'])('lets %s pass from anywhere', (method) => {
    expect(guard.canActivate(post({ origin: 'https://evil.example' }, method))).toBe(true);
  });

  it.each<[string, Record<string, string>, RegExp]>([
    ['of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://chat.example' }, /page of this service\.$/],
    [
      'of the same site and another host',
      { 'sec-fetch-site': 'same-origin', origin: 'https://other.example' },
      /page of this service\. .*origin.*host.*differ.*proxy.*TRUST_PROXY/,
    ],
  ])('sends a page %s the reason for the refusal', (_, headers, reason) => {
    const message = expect.stringMatching(reason) as string;
    expect(() => guard.canActivate(post(headers))).toThrow(
      expect.objectContaining({ code: 'forbidden', message }) as Error,
    );
  });
});
