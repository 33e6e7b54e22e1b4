import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ServiceError } from '../common/service-error.js';
import { AttemptCounters, type AttemptCounter, type AttemptMemory } from './attempt-counters.js';
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
const KNOWN = { name: 'sign-in:known', forSeconds: 30 * DAY_SECONDS };
const SIGN_UPS_BY_NETWORK = { name: 'sign-up:network', attempts: 20, withinSeconds: HOUR_SECONDS };
/** Of all networks with one address, as a sign-up tells whether it has an account. */
const SIGN_UPS_BY_ACCOUNT = { name: 'sign-up:account', attempts: 20, withinSeconds: HOUR_SECONDS };

/** An attempt that counts as failed until it is said to be none. */
export interface Attempt {
  /** The password was right, or is new. */
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
  private readonly byNetwork: AttemptCounter;
  private readonly byBoth: AttemptCounter;
  private readonly byAccount: AttemptCounter;
  private readonly known: AttemptMemory;
  private readonly signUpsByNetwork: AttemptCounter;
  private readonly signUpsByAccount: AttemptCounter;

  constructor(counters: AttemptCounters) {
    this.byNetwork = counters.counter(BY_NETWORK);
    this.byBoth = counters.counter(BY_BOTH);
    this.byAccount = counters.counter(BY_ACCOUNT);
    this.known = counters.memory(KNOWN.name, KNOWN.forSeconds);
    this.signUpsByNetwork = counters.counter(SIGN_UPS_BY_NETWORK);
    this.signUpsByAccount = counters.counter(SIGN_UPS_BY_ACCOUNT);
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
    const both = bothOf(network, account);
    const isKnown = await this.known.has(both);
    // The network first: once it is refused, it cannot make counters for ever more accounts.
    const withdrawn = await countAll([
      [this.byNetwork, network],
      [this.byBoth, both],
      ...(isKnown ? [] : [[this.byAccount, account] as const]),
    ]);
    return {
      withdrawn,
      succeeded: async () => {
        await withdrawn();
        await this.known.add(both);
      },
    };
  }

  /**
   * Counts a new account, before any work is done for it.
   *
   * @param email as `normalizeEmail` gives it.
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  async signUp(address: string | undefined, email: string): Promise<Pick<Attempt, 'succeeded'>> {
    const network = keyOf(networkOf(address));
    const account = keyOf(email);
    await countAll([
      [this.signUpsByNetwork, network],
      [this.signUpsByAccount, account],
    ]);
    return { succeeded: () => this.known.add(bothOf(network, account)) };
  }
}

/**
 * Counts with all or none.
 *
 * @returns withdraws it from all.
 */
async function countAll(counters: readonly (readonly [AttemptCounter, string])[]): Promise<() => Promise<void>> {
  const withdrawals: (() => Promise<void>)[] = [];
  const withdraw = async (): Promise<void> => {
    await Promise.all(withdrawals.map((each) => each()));
  };
  for (const [counter, key] of counters) {
    const counted = await counter.count(key);
    if (!counted.allowed) {
      await withdraw();
      throw tooMany(counted.retryAfterMs);
    }
    withdrawals.push(() => counted.withdraw());
  }
  return withdraw;
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

function bothOf(network: string, account: string): string {
  return `${network}:${account}`;
}
