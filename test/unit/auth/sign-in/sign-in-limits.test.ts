import { beforeEach, describe, expect, it } from 'vitest';
import { keyOf } from '../../../../src/auth/attempts/attempt-counters.js';
import { SignInLimits } from '../../../../src/auth/sign-in/sign-in-limits.js';
import { RecordedCounters } from '../recorded-counters.js';

const IPV4 = '192.0.2.7';
const IPV6 = '2001:db8:1:2::3';
const ADA = 'ada@example.com';

const FAILURES = ['sign-in:network', 'sign-in:both', 'sign-in:account'];
const SUCCESSES = ['sign-in:network_successes', 'sign-in:account_successes'];
const FAILURES_OF_IPV6 = ['sign-in:network', 'sign-in:site', 'sign-in:both', 'sign-in:account'];
const SUCCESSES_OF_IPV6 = ['sign-in:network_successes', 'sign-in:site_successes', 'sign-in:account_successes'];

const each = (verb: string, names: readonly string[]) => names.map((name) => `${verb} ${name}`);

describe('the limits of sign-in', () => {
  let counters: RecordedCounters;
  let limits: SignInLimits;

  beforeEach(() => {
    counters = new RecordedCounters();
    limits = new SignInLimits(counters);
  });

  it('are these numbers of attempts in these times', () => {
    const rows = counters.limits.map(({ name, attempts, withinSeconds }) => [name, attempts, withinSeconds]);
    expect(rows).toEqual([
      ['sign-in:network', 50, 900],
      ['sign-in:site', 500, 900],
      ['sign-in:both', 10, 900],
      ['sign-in:account', 100, 600],
      ['sign-in:network_successes', 500, 900],
      ['sign-in:site_successes', 5000, 900],
      ['sign-in:account_successes', 100, 900],
      ['sign-up:network', 20, 3600],
      ['sign-up:site', 200, 3600],
      ['sign-up:account', 20, 3600],
      ['link:network', 50, 900],
      ['link:site', 500, 900],
    ]);
    expect(counters.memories).toEqual([['sign-in:known', 30 * 86_400]]);
  });

  it('count an attempt as failed and as successful, networks first', async () => {
    await limits.attempt(IPV4, ADA);
    expect(counters.takeCalls()).toEqual(each('count', [...FAILURES, ...SUCCESSES]));
  });

  it('also count the site of an IPv6 address', async () => {
    await limits.attempt(IPV6, ADA);
    expect(counters.takeCalls()).toEqual(each('count', [...FAILURES_OF_IPV6, ...SUCCESSES_OF_IPV6]));
  });

  it('count hashes of the network, of the site, of the account, and of network and account together', async () => {
    await limits.attempt(IPV6, ADA);
    const [network, site, account] = ['2001:db8:1:2::/64', '2001:db8:1::/48', ADA].map(keyOf);
    expect(Object.fromEntries(counters.keys)).toEqual({
      'sign-in:network': network,
      'sign-in:site': site,
      'sign-in:both': `${network}:${account}`,
      'sign-in:account': account,
      'sign-in:network_successes': network,
      'sign-in:site_successes': site,
      'sign-in:account_successes': account,
    });
    expect(network).toMatch(/^[\w-]{22}$/);
  });

  it('keep only the successes of an attempt that succeeded, and then remember the network', async () => {
    const attempt = await limits.attempt(IPV6, ADA);
    counters.takeCalls();
    await attempt.succeeded();
    expect(counters.takeCalls()).toEqual([...each('withdraw', FAILURES_OF_IPV6), 'remember sign-in:known']);
    expect([...counters.known]).toEqual([`${keyOf('2001:db8:1:2::/64')}:${keyOf(ADA)}`]);
  });

  it('keep only the failures of an attempt that failed', async () => {
    const attempt = await limits.attempt(IPV6, ADA);
    counters.takeCalls();
    await attempt.failed();
    expect(counters.takeCalls()).toEqual(each('withdraw', SUCCESSES_OF_IPV6));
    expect(counters.known.size).toBe(0);
  });

  it('keep nothing of an attempt that is withdrawn', async () => {
    const attempt = await limits.attempt(IPV6, ADA);
    counters.takeCalls();
    await attempt.withdrawn();
    expect(counters.takeCalls()).toEqual(each('withdraw', [...FAILURES_OF_IPV6, ...SUCCESSES_OF_IPV6]));
    expect(counters.known.size).toBe(0);
  });

  it('do not count attempts from a known network against the account', async () => {
    await (await limits.attempt(IPV4, ADA)).succeeded();
    counters.takeCalls();
    await (await limits.attempt(IPV4, ADA)).withdrawn();
    expect(counters.takeCalls().slice(0, 4)).toEqual(each('count', ['sign-in:network', 'sign-in:both', ...SUCCESSES]));
    await limits.attempt('192.0.2.8', ADA);
    expect(counters.takeCalls()).toContain('count sign-in:account');
    await limits.attempt(IPV4, 'bob@example.com');
    expect(counters.takeCalls()).toContain('count sign-in:account');
  });

  it('count nothing at an account for a network that is refused', async () => {
    counters.refused.set('sign-in:network', 60_000);
    await expect(limits.attempt(IPV4, ADA)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    expect(counters.takeCalls()).toEqual(['refuse sign-in:network']);
  });

  it('withdraw an attempt that the last limit refuses, before the refusal is known', async () => {
    counters.refused.set('sign-in:account_successes', 60_000);
    await expect(limits.attempt(IPV4, ADA)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
    const counted = [...FAILURES, 'sign-in:network_successes'];
    expect(counters.takeCalls()).toEqual([
      ...each('count', counted),
      'refuse sign-in:account_successes',
      ...each('withdraw', counted),
    ]);
  });

  it('share one network among all clients without an address', async () => {
    await limits.attempt(undefined, ADA);
    expect(counters.keys.get('sign-in:network')).toBe(keyOf('unknown'));
    expect(counters.takeCalls()).toEqual(each('count', [...FAILURES, ...SUCCESSES]));
  });

  describe('for sign-ups', () => {
    it('count the network, the site of an IPv6 address, and the account', async () => {
      await limits.signUp(IPV6, ADA);
      expect(counters.takeCalls()).toEqual(each('count', ['sign-up:network', 'sign-up:site', 'sign-up:account']));
      expect(counters.keys.get('sign-up:site')).toBe(keyOf('2001:db8:1::/48'));
      await limits.signUp(IPV4, ADA);
      expect(counters.takeCalls()).toEqual(each('count', ['sign-up:network', 'sign-up:account']));
      expect([counters.keys.get('sign-up:network'), counters.keys.get('sign-up:account')]).toEqual(
        [IPV4, ADA].map(keyOf),
      );
    });

    it('stay counted, and make the network known, when the sign-up succeeded', async () => {
      const attempt = await limits.signUp(IPV4, ADA);
      counters.takeCalls();
      await attempt.succeeded();
      expect(counters.takeCalls()).toEqual(['remember sign-in:known']);
      await limits.attempt(IPV4, ADA);
      expect(counters.takeCalls()).not.toContain('count sign-in:account');
    });
  });
});
