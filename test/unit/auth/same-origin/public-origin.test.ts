import type { Request } from 'express';
import { TLSSocket } from 'node:tls';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { hostOf, isSecure, publicOriginOf } from '../../../../src/auth/same-origin/public-origin.js';

/** @param proxies the value of `TRUST_PROXY`. */
function requestWith(headers: Record<string, string>, proxies = 0, socket = new Socket()): Request {
  return { headers, socket, app: { get: () => proxies } } as unknown as Request;
}

const HOST = { host: 'chat.example' };

const HOSTS = { ...HOST, 'x-forwarded-host': 'client.example, outer.example, ,inner.example' };

const PROTOCOLS = { 'x-forwarded-proto': 'http, HTTPS, http' };

describe('the host of a request', () => {
  it.each<[string, Record<string, string>, number, string]>([
    ['the header of the client without a proxy', HOSTS, 0, 'chat.example'],
    ['what the only proxy has written', HOSTS, 1, 'inner.example'],
    ['what the outermost of two proxies has written', HOSTS, 2, 'outer.example'],
    ['the first value when there are more proxies than values', HOSTS, 9, 'client.example'],
    [
      'the header of the client when the proxy has written nothing',
      { ...HOST, 'x-forwarded-host': ' , ' },
      1,
      'chat.example',
    ],
    ['the header of the client when the proxy has no header', HOST, 1, 'chat.example'],
    ['empty when there is none', {}, 1, ''],
  ])('is %s', (_, headers, proxies, host) => {
    expect(hostOf(requestWith(headers, proxies))).toBe(host);
  });
});

describe('a request', () => {
  it('is secure on a connection with TLS, and where a trusted proxy says so', () => {
    expect(isSecure(requestWith({}, 0, new TLSSocket(new Socket())))).toBe(true);
    expect([0, 1, 2, 3].map((proxies) => isSecure(requestWith(PROTOCOLS, proxies)))).toEqual([
      false,
      false,
      true,
      false,
    ]);
    expect(isSecure(requestWith({}, 1))).toBe(false);
  });

  it('has the public origin of its host', () => {
    expect(publicOriginOf(requestWith(HOST))).toBe('http://chat.example');
    expect(publicOriginOf(requestWith({ ...HOST, ...PROTOCOLS }, 2))).toBe('https://chat.example');
  });
});
