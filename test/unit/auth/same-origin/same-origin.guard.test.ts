import { Reflector } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { SameOriginGuard, sourceOf } from '../../../../src/auth/same-origin/same-origin.guard.js';
import { contextOf, requestWith, SESSION } from '../requests.js';
import type { Request } from 'express';
import { Socket } from 'node:net';

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

describe('same origin', () => {
  /** @param proxies the value of `TRUST_PROXY`. */
  function requestWith(headers: Record<string, string>, proxies = 0, socket = new Socket()): Request {
    return { headers, socket, app: { get: () => proxies } } as unknown as Request;
  }

  const HOST = { host: 'chat.example' };

  describe('the source of a request', () => {
    const SECURE = { ...HOST, 'x-forwarded-proto': 'https' };

    it.each<[string, Record<string, string>, string]>([
      ['another site', { ...HOST, 'sec-fetch-site': 'same-site' }, 'other-origin'],
      ['no site', { ...HOST, 'sec-fetch-site': 'none' }, 'other-origin'],
      [
        'a secure origin, for a request that looks insecure',
        { ...HOST, origin: 'https://chat.example' },
        'same-origin',
      ],
      ['a secure origin', { ...SECURE, origin: 'https://chat.example' }, 'same-origin'],
      ['an insecure origin, for a secure request', { ...SECURE, origin: 'http://chat.example' }, 'other-origin'],
      [
        'the origin and its usual port in the host',
        { host: 'chat.example:443', origin: 'https://chat.example' },
        'same-origin',
      ],
      [
        'another site, and the origin',
        { ...HOST, 'sec-fetch-site': 'cross-site', origin: 'http://chat.example' },
        'other-origin',
      ],
      ['an origin, for a host that is none', { host: '[', origin: 'http://chat.example' }, 'other-origin'],
      ['an origin, without a host', { origin: 'http://chat.example' }, 'other-origin'],
    ])('whose headers show %s is reported', (_, headers, source) => {
      expect(sourceOf(requestWith(headers, 1))).toBe(source);
    });
  });
});
