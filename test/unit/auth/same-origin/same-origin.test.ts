import type { Request } from 'express';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { sourceOf } from '../../../../src/auth/same-origin/same-origin.js';

/** @param proxies the value of `TRUST_PROXY`. */
function requestWith(headers: Record<string, string>, proxies = 0, socket = new Socket()): Request {
  return { headers, socket, app: { get: () => proxies } } as unknown as Request;
}

const HOST = { host: 'chat.example' };

describe('the source of a request', () => {
  const SECURE = { ...HOST, 'x-forwarded-proto': 'https' };

  it.each<[string, Record<string, string>, string]>([
    ['nothing', HOST, 'unknown'],
    ['the site', { ...HOST, 'sec-fetch-site': 'same-origin' }, 'same-origin'],
    ['another site', { ...HOST, 'sec-fetch-site': 'same-site' }, 'other-origin'],
    ['no site', { ...HOST, 'sec-fetch-site': 'none' }, 'other-origin'],
    ['the origin', { ...HOST, origin: 'http://chat.example' }, 'same-origin'],
    ['a secure origin, for a request that looks insecure', { ...HOST, origin: 'https://chat.example' }, 'same-origin'],
    ['a secure origin', { ...SECURE, origin: 'https://chat.example' }, 'same-origin'],
    ['an insecure origin, for a secure request', { ...SECURE, origin: 'http://chat.example' }, 'other-origin'],
    [
      'the origin and its usual port in the host',
      { host: 'chat.example:443', origin: 'https://chat.example' },
      'same-origin',
    ],
    ['another port', { ...HOST, origin: 'http://chat.example:8080' }, 'other-origin'],
    ['an opaque origin', { ...HOST, origin: 'null' }, 'other-origin'],
    ['an origin with a path', { ...HOST, origin: 'http://chat.example/' }, 'other-origin'],
    ['an origin that is empty', { ...HOST, origin: '' }, 'other-origin'],
    [
      'the site, and another origin',
      { ...HOST, 'sec-fetch-site': 'same-origin', origin: 'http://other.example' },
      'other-origin',
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
