import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { ServiceError } from '../../platform/common/service-error.js';
import { networkOf, sitePrefixOf } from '../network/client-network.js';

export interface AttemptLimit {
  /** Unique among the names of all limits. */
  readonly name: string;
  readonly attempts: number;
  readonly withinSeconds: number;
}

export type Counted =
  | {
      readonly allowed: true;
      /** Takes back one counted attempt, for example after a successful sign-in. */
      withdraw(): Promise<void>;
    }
  | { readonly allowed: false; readonly retryAfterMs: number };

/** Counts attempts against one limit, separately for each key. */
export interface AttemptCounter {
  /** Counts an attempt, unless the limit is reached. */
  count(key: string): Promise<Counted>;
}

/** Remembers each key for some time after the key was last added. */
export interface AttemptMemory {
  has(key: string): Promise<boolean>;
  add(key: string): Promise<void>;
}

/**
 * Creates counters for attempts, such as sign-ins. The class is the injection token. Keys are texts of any length. Callers
 * pass any number of keys, so each implementation must limit how many it stores.
 */
export abstract class AttemptCounters {
  /** Creates an independent counter. */
  abstract counter(limit: AttemptLimit): AttemptCounter;
  /** Creates an independent memory. */
  abstract memory(name: string, forSeconds: number): AttemptMemory;
}

/** A counter, and the key that it counts. */
export type Count = readonly [counter: AttemptCounter, key: string];

/** Takes an attempt back, from the given counters or from all counters that have counted the attempt. */
type Withdraw = (from?: ReadonlySet<AttemptCounter>) => Promise<void>;

/**
 * Counts an attempt with all counters. When one limit is reached, no counter keeps the attempt.
 *
 * @param refusal the error message when one of the limits is reached.
 * @throws {ServiceError} `rate_limit_exceeded`
 */
export async function countAll(
  counts: readonly Count[],
  refusal = 'Too many attempts. Try again later.',
): Promise<Withdraw> {
  const withdrawals = new Map<AttemptCounter, () => Promise<void>>();
  const withdraw: Withdraw = async (from) => {
    const chosen = [...withdrawals].filter(([counter]) => from?.has(counter) ?? true);
    await Promise.all(chosen.map(([, each]) => each()));
  };
  for (const [counter, key] of counts) {
    const counted = await counter.count(key);
    if (!counted.allowed) {
      await withdraw();
      throw new ServiceError('rate_limit_exceeded', refusal, {
        retryAfterSeconds: Math.max(1, Math.ceil(counted.retryAfterMs / 1000)),
      });
    }
    withdrawals.set(counter, () => counted.withdraw());
  }
  return withdraw;
}

/** Returns a hash of the text as the key of a counter. Addresses are personal data, so counters store only hashes. */
export function keyOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** An IPv6 site has up to 65,536 networks. */
const NETWORKS_OF_A_SITE = 10;

/** Counts the attempts of each network, and those of each IPv6 site, which may have ten times as many. */
export class NetworkCounter {
  private readonly byNetwork: AttemptCounter;
  private readonly bySite: AttemptCounter;

  /** @param limit the limit of a network. Its name contains `network`. */
  constructor(counters: AttemptCounters, { name, attempts, withinSeconds }: AttemptLimit) {
    const ofSite = { name: name.replace('network', 'site'), attempts: attempts * NETWORKS_OF_A_SITE, withinSeconds };
    this.byNetwork = counters.counter({ name, attempts, withinSeconds });
    this.bySite = counters.counter(ofSite);
  }

  get counters(): readonly AttemptCounter[] {
    return [this.byNetwork, this.bySite];
  }

  /**
   * Returns what to count for a client. The site of an IPv4 address is its network, which has a lower limit already.
   *
   * @param address `request.ip`.
   */
  countsOf(address: string | undefined): readonly Count[] {
    const [network, site] = [networkOf(address), sitePrefixOf(address)];
    const ofNetwork: Count = [this.byNetwork, keyOf(network)];
    return site === network ? [ofNetwork] : [ofNetwork, [this.bySite, keyOf(site)]];
  }
}

/** Enough to replace all keys of an account once. There is a limit because each key leaves a row, even when it is revoked. */
const BY_ACCOUNT = { name: 'key-creation:account', attempts: 100, withinSeconds: 3_600 };

/** Limits how many API keys the owner of an account creates in an hour. */
@Injectable()
export class KeyCreationLimit {
  private readonly byAccount: AttemptCounter;

  constructor(counters: AttemptCounters) {
    this.byAccount = counters.counter(BY_ACCOUNT);
  }

  /**
   * Runs `create`, and counts the call unless `create` throws.
   *
   * @throws {ServiceError} `rate_limit_exceeded` without running `create`; the errors of `create`.
   */
  async count<T>(accountId: string, create: () => Promise<T>): Promise<T> {
    const withdraw = await countAll(
      [[this.byAccount, keyOf(accountId)]],
      'This account created too many API keys. Try again later.',
    );
    try {
      return await create();
    } catch (error) {
      await withdraw();
      throw error;
    }
  }
}
