import { describe, expect, it } from 'vitest';
import { RequestBodyClients } from '../../../../src/auth/session/request-body-clients.js';
import { requestWith, SESSION, TIER, OF_KEY } from '../requests.js';

describe('the client that a body counts towards', () => {
  const clients = new RequestBodyClients();
  const MIB = 1024 * 1024;

  it('is the network without an account', () => {
    expect(clients.clientOf(requestWith({}))).toEqual({
      key: 'network 2001:db8:1:2::/64',
      maxArriving: 32,
      maxBytes: 16 * MIB,
    });
  });

  it('is the account, with limits that grow with the streams of its tier', () => {
    const principal = { ...OF_KEY, tier: { ...TIER, concurrentStreams: 10 } };
    expect(clients.clientOf(requestWith({}, { principal, session: SESSION }))).toEqual({
      key: 'account bob',
      maxArriving: 26,
      maxBytes: 14 * 4 * MIB,
    });
  });

  it('is the account of the session where no guard has run, without a limit if the tier has none', () => {
    expect(clients.clientOf(requestWith({}, { session: SESSION }))).toEqual({
      key: 'account ada',
      maxArriving: Infinity,
      maxBytes: Infinity,
    });
  });
});
