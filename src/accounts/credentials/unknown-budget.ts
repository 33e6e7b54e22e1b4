import { RecentMap } from './recent-map.js';

/** How many unknown credentials one network may send: first a burst of this size, then a number per second. */
const AT_ONCE = 200;
const PER_SECOND = 20;
const MAX_NETWORKS = 10_000;

interface Budget {
  readonly left: number;
  /** In milliseconds, by the monotonic clock. */
  readonly at: number;
}

/** Limits how many unknown credentials each network may send. */
export class UnknownBudget {
  private readonly budgets = new RecentMap<string, Budget>(MAX_NETWORKS);

  /** @param now in milliseconds, by a monotonic clock. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Counts a credential that may turn out to be unknown. Returns `false` when the network has no budget left for it. */
  take(network: string): boolean {
    const left = this.left(network);
    if (left < 1) return false;
    this.set(network, left - 1);
    return true;
  }

  /** Takes one count back, for a credential that is known or that could not be looked up. */
  giveBack(network: string): void {
    this.set(network, Math.min(AT_ONCE, this.left(network) + 1));
  }

  private left(network: string): number {
    const budget = this.budgets.get(network, -1);
    if (budget === undefined) return AT_ONCE;
    return Math.min(AT_ONCE, budget.left + ((this.now() - budget.at) / 1000) * PER_SECOND);
  }

  private set(network: string, left: number): void {
    this.budgets.set(network, { left, at: this.now() }, 0);
  }
}
