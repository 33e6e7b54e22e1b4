import { Injectable } from '@nestjs/common';
import {
  AttemptCounters,
  countAll,
  keyOf,
  NetworkCounter,
  type AttemptCounter,
  type AttemptMemory,
} from '../attempts/attempt-counters.js';
import { networkOf } from '../network/client-network.js';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;

/** Failed attempts of one network at all accounts. High enough for an office of people who forget their passwords. */
const BY_NETWORK = { name: 'sign-in:network', attempts: 50, withinSeconds: 15 * MINUTE_SECONDS };
/** Failed attempts of one network at one account. */
const BY_BOTH = { name: 'sign-in:both', attempts: 10, withinSeconds: 15 * MINUTE_SECONDS };
/**
 * Failed attempts at one account from all networks that are not {@link KNOWN}. The time is short, because the limit also
 * stops an owner who signs in from such a network.
 */
const BY_ACCOUNT = { name: 'sign-in:account', attempts: 100, withinSeconds: 10 * MINUTE_SECONDS };
/** Successful attempts of one network. They cost as much work as failed attempts. */
const SUCCESSES_BY_NETWORK = { name: 'sign-in:network_successes', attempts: 500, withinSeconds: 15 * MINUTE_SECONDS };
/** Successful attempts at one account. */
const SUCCESSES_BY_ACCOUNT = { name: 'sign-in:account_successes', attempts: 100, withinSeconds: 15 * MINUTE_SECONDS };
/** The networks from which someone has signed in to the account within this time. */
const KNOWN = { name: 'sign-in:known', forSeconds: 30 * DAY_SECONDS };
const SIGN_UPS_BY_NETWORK = { name: 'sign-up:network', attempts: 20, withinSeconds: HOUR_SECONDS };
/** Sign-ups of all networks with one email address. Limited because a sign-up discloses whether the address has an account. */
const SIGN_UPS_BY_ACCOUNT = { name: 'sign-up:account', attempts: 20, withinSeconds: HOUR_SECONDS };

/** Links of one network that are not valid. A link cannot be guessed, but each lookup is a query. */
const LINKS_BY_NETWORK = { name: 'link:network', attempts: 50, withinSeconds: 15 * MINUTE_SECONDS };

/** An attempt. It counts both as failed and as successful until one of these methods is called. */
export interface SignInAttempt {
  /** The password was correct, or is new. */
  succeeded(): Promise<void>;
  /** The password was wrong. */
  failed(): Promise<void>;
  /** The password was not compared, for example because of an error. */
  withdrawn(): Promise<void>;
}

/**
 * Limits how often passwords may be guessed: from a network, at an account, and at an account from a network. Guessing
 * cannot lock an owner out permanently: on a network from which the owner has signed in, only guesses from this network
 * count. Email addresses with and without an account count in the same way, so that the limits do not disclose which
 * accounts exist.
 *
 * Also limits successful attempts, with separate counters, because each attempt costs a password hash.
 */
@Injectable()
export class SignInLimits {
  private readonly networks: NetworkCounter;
  private readonly byBoth: AttemptCounter;
  private readonly byAccount: AttemptCounter;
  private readonly successesOfNetworks: NetworkCounter;
  private readonly successesByAccount: AttemptCounter;
  private readonly failures: ReadonlySet<AttemptCounter>;
  private readonly successes: ReadonlySet<AttemptCounter>;
  private readonly known: AttemptMemory;
  private readonly signUpsOfNetworks: NetworkCounter;
  private readonly signUpsByAccount: AttemptCounter;
  private readonly linksOfNetworks: NetworkCounter;

  constructor(counters: AttemptCounters) {
    this.networks = new NetworkCounter(counters, BY_NETWORK);
    this.byBoth = counters.counter(BY_BOTH);
    this.byAccount = counters.counter(BY_ACCOUNT);
    this.successesOfNetworks = new NetworkCounter(counters, SUCCESSES_BY_NETWORK);
    this.successesByAccount = counters.counter(SUCCESSES_BY_ACCOUNT);
    this.failures = new Set([...this.networks.counters, this.byBoth, this.byAccount]);
    this.successes = new Set([...this.successesOfNetworks.counters, this.successesByAccount]);
    this.known = counters.memory(KNOWN.name, KNOWN.forSeconds);
    this.signUpsOfNetworks = new NetworkCounter(counters, SIGN_UPS_BY_NETWORK);
    this.signUpsByAccount = counters.counter(SIGN_UPS_BY_ACCOUNT);
    this.linksOfNetworks = new NetworkCounter(counters, LINKS_BY_NETWORK);
  }

  /**
   * Counts an attempt to sign in, before any work is done for it.
   *
   * @param address `request.ip`.
   * @param email in the form that `normalizeEmail` returns.
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  async attempt(address: string | undefined, email: string): Promise<SignInAttempt> {
    const account = keyOf(email);
    const both = bothOf(address, account);
    const isKnown = await this.known.has(both);
    // Networks come first, so that a refused network cannot create counters for more and more accounts.
    const withdraw = await countAll([
      ...this.networks.countsOf(address),
      [this.byBoth, both],
      ...(isKnown ? [] : [[this.byAccount, account] as const]),
      ...this.successesOfNetworks.countsOf(address),
      [this.successesByAccount, account],
    ]);
    return {
      succeeded: async () => {
        await withdraw(this.failures);
        await this.known.add(both);
      },
      failed: () => withdraw(this.successes),
      withdrawn: () => withdraw(),
    };
  }

  /**
   * Counts an attempt to finish a sign-in at an issuer of OpenID Connect. The issuer protects its accounts itself, so only networks
   * are limited.
   *
   * @param address `request.ip`.
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  async issuerAttempt(address: string | undefined): Promise<SignInAttempt> {
    const withdraw = await countAll([
      ...this.networks.countsOf(address),
      ...this.successesOfNetworks.countsOf(address),
    ]);
    return {
      succeeded: () => withdraw(this.failures),
      failed: () => withdraw(this.successes),
      withdrawn: () => withdraw(),
    };
  }

  /**
   * Counts a sign-up, before any work is done for it.
   *
   * @param address `request.ip`.
   * @param email in the form that `normalizeEmail` returns.
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  async signUp(address: string | undefined, email: string): Promise<Pick<SignInAttempt, 'succeeded'>> {
    const account = keyOf(email);
    await countAll([...this.signUpsOfNetworks.countsOf(address), [this.signUpsByAccount, account]]);
    return { succeeded: () => this.known.add(bothOf(address, account)) };
  }

  /**
   * Counts the use of a one-time link, before the link is looked up.
   *
   * @param address `request.ip`.
   * @throws {ServiceError} `rate_limit_exceeded`
   */
  async link(address: string | undefined): Promise<Pick<SignInAttempt, 'succeeded'>> {
    const withdraw = await countAll(this.linksOfNetworks.countsOf(address));
    return { succeeded: () => withdraw() };
  }
}

/** The key of an account from one network. */
function bothOf(address: string | undefined, account: string): string {
  return `${keyOf(networkOf(address))}:${account}`;
}
