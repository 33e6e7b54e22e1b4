import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { RateLimiterAbstract } from 'rate-limiter-flexible';
import { ServiceError } from '../common/service-error.js';
import { AttemptCounters } from './attempt-counters.js';
import { networkOf } from './client-network.js';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

/** Of one network, whatever accounts it tries. An office of people who forget their passwords keeps below it. */
const BY_NETWORK = { name: 'sign-in:network', attempts: 50, withinSeconds: 15 * MINUTE_SECONDS };
/** Of one network at one account. */
const BY_BOTH = { name: 'sign-in:both', attempts: 10, withinSeconds: 15 * MINUTE_SECONDS };
/** Of all networks at one account. Short, as it keeps out the owner, too, where they are not known. */
const BY_ACCOUNT = { name: 'sign-in:account', attempts: 100, withinSeconds: 10 * MINUTE_SECONDS };
/** From where somebody has signed in to the account of late. */
const KNOWN = { name: 'sign-in:known', attempts: 1, withinSeconds: 30 * DAY_SECONDS };
const SIGN_UPS = { name: 'sign-up:network', attempts: 20, withinSeconds: HOUR_SECONDS };

/** An attempt that counts as failed until it is said to be none. */
export interface Attempt {
  /** The password was right. */
  succeeded(): Promise<void>;
  /** It was not tried after all. */
  withdrawn(): Promise<void>;
}

/**
 * Limits how often passwords may be guessed: from a network, at an account, and at an account from a network. Nobody can
 * lock an owner out for good by guessing: from networks that the owner has signed in from, only the guesses made there
 * count. Known and unknown addresses are counted alike, so that the limits do not tell who has an account.
 */
@Injectable()
export class SignInLimits {
  private readonly byNetwork: RateLimiterAbstract;
  private readonly byBoth: RateLimiterAbstract;
  private readonly byAccount: RateLimiterAbstract;
  private readonly known: RateLimiterAbstract;
  private readonly signUps: RateLimiterAbstract;

  constructor(counters: AttemptCounters) {
    this.byNetwork = counters.create(BY_NETWORK);
    this.byBoth = counters.create(BY_BOTH);
    this.byAccount = counters.create(BY_ACCOUNT);
    this.known = counters.create(KNOWN);
    this.signUps = counters.create(SIGN_UPS);
  }

  /**
   * Counts an attempt to sign in, before any work is done for it.
   *
   * @param email as `normalizeEmail` gives it.
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  async attempt(address: string | undefined, email: string): Promise<Attempt> {
    const network = keyOf(networkOf(address));
    const account = keyOf(email);
    const both = `${network}:${account}`;
    const isKnown = (await this.known.get(both)) !== null;
    const counted: [RateLimiterAbstract, string][] = [
      [this.byBoth, both],
      [this.byNetwork, network],
      ...(isKnown ? [] : [[this.byAccount, account] satisfies [RateLimiterAbstract, string]]),
    ];
    await consumeAll(counted);
    const withdrawn = () => giveBack(counted);
    return {
      withdrawn,
      succeeded: async () => {
        await withdrawn();
        await this.known.set(both, 1, KNOWN.withinSeconds);
      },
    };
  }

  /**
   * Counts a new account.
   *
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  async signUp(address: string | undefined): Promise<void> {
    await consumeAll([[this.signUps, keyOf(networkOf(address))]]);
  }
}

/** Counts with all or none. */
async function consumeAll(counted: readonly [RateLimiterAbstract, string][]): Promise<void> {
  for (const [index, [counter, key]] of counted.entries()) {
    try {
      await counter.consume(key);
    } catch (refusal) {
      await giveBack(counted.slice(0, index));
      if (refusal instanceof Error) throw refusal;
      throw tooMany((refusal as { msBeforeNext: number }).msBeforeNext);
    }
  }
}

async function giveBack(counted: readonly [RateLimiterAbstract, string][]): Promise<void> {
  for (const [counter, key] of counted) {
    // The window may be over: to take one from the next would let in one more than the limit.
    const window = await counter.get(key);
    if (window !== null && window.consumedPoints > 0) await counter.reward(key);
  }
}

function tooMany(retryAfterMs: number): ServiceError {
  return new ServiceError('rate_limit_exceeded', 'There were too many attempts. Try again later.', {
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1000)),
  });
}

/** Addresses are personal: they are not kept as they are, wherever the counters are. */
function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
