import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { restrictionsOf, type Principal } from '../../auth/principal/principal.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { CONFIG, type Config, type TierConfig } from '../../config/config.js';
import { MICROS, type Budget } from '../../config/limits/budget.js';
import type { Row } from '../../database/queries/atomic-statements.js';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { BudgetEvents } from './budget-events.js';
import { deleteHold, selectUse, updateHold, type BudgetHold } from './budget-statements.js';
import { currentBudget, type CurrentBudget } from './current-budget.js';
import { HoldQueue } from './hold-queue.js';
import { RunningHolds } from './running-holds.js';
import { SharedHolds } from './shared-holds.js';

/** How often a request tries to reserve money that other streams release meanwhile. */
const MAX_ATTEMPTS = 3;

/** A budget and what remains of it, in units of the currency. */
export interface BudgetState {
  readonly amount: number;
  /** The cost of the streams of the period that are over, from the ledger. */
  readonly spent: number;
  /** The most that the running streams can cost, and money that a process keeps for the next requests of a busy caller. */
  readonly reserved: number;
  readonly currency: string;
  readonly per: Budget['per'];
  readonly resetsAt: Date;
}

/**
 * Returns a budget and what remains of it.
 *
 * @param use a row of `selectUse` or `selectUseOfKeys`. `undefined`: nothing is spent or reserved.
 */
export function budgetState(budget: CurrentBudget, use: Row | undefined, currency: string): BudgetState {
  const { micros, per, resetsAt } = budget;
  return {
    amount: micros / MICROS,
    spent: Number(use?.['spent'] ?? 0) / MICROS,
    reserved: Number(use?.['reserved'] ?? 0) / MICROS,
    currency,
    per,
    resetsAt: new Date(resetsAt),
  };
}

type Budgets = () => readonly CurrentBudget[];

/** The money that one stream has reserved. */
export interface SpendHold {
  /** The id of the record of the stream. */
  readonly recordId: string;
  /** Releases the money of a stream that has not begun. */
  release(): void;
  /** Replaces the reserved money by the cost of the stream. `undefined`: the cost is unknown, and the ledger decides. */
  settle(micros: number | undefined): void;
}

/**
 * The budgets of accounts and API keys. What is spent is read from the ledger in the database, and what is reserved is stored
 * there, so the budgets are exact over all replicas, and nothing is lost with Redis or with a process.
 */
@Injectable()
export class SpendBudgets implements OnModuleDestroy {
  constructor(
    private readonly queue: HoldQueue,
    private readonly running: RunningHolds,
    private readonly shared: SharedHolds,
    private readonly events: BudgetEvents,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Whether the account or the API key of the caller has a budget. */
  limits(principal: Principal): boolean {
    return principal.tier.budget !== undefined || restrictionsOf(principal)?.budget !== undefined;
  }

  /**
   * Reserves money for a stream.
   *
   * @param micros the most that the stream can cost, in millionths of the currency unit.
   * @param id the id of the record of the stream.
   * @returns a promise only if the database must be queried.
   * @throws {ServiceError} `budget_exceeded`, and `unavailable` when the database does not answer.
   */
  reserve(principal: Principal, micros: number, id: string): SpendHold | Promise<SpendHold> {
    const { accountId, credential } = principal;
    const keyId = credential.kind === 'api_key' ? credential.keyId : undefined;
    const hold = { id, accountId, keyId, micros };
    const budgets = () => this.budgetsOf(principal, this.now());
    const isShared = this.shared.take(hold, id, micros, budgets);
    return isShared === true ? this.sharedHold(hold, budgets) : this.reserveLater(hold, budgets, isShared);
  }

  /** Returns the budget of the caller, or `undefined`. With two budgets, the one of which less remains. */
  async stateOf(principal: Principal): Promise<BudgetState | undefined> {
    const states = await this.states(this.budgetsOf(principal, this.now()));
    const [state] = states.sort((one, other) => remainingOf(one) - remainingOf(other));
    return state;
  }

  /** Returns the budget of an account without its keys, or `undefined`. */
  async stateOfAccount(accountId: string, tier: TierConfig): Promise<BudgetState | undefined> {
    const { budget } = tier;
    if (budget === undefined) return undefined;
    return (await this.states([currentBudget(budget, { accountId, key: undefined }, this.now())]))[0];
  }

  onModuleDestroy(): void {
    this.running.stop();
  }

  private async reserveLater(
    hold: BudgetHold,
    budgets: Budgets,
    willShare: boolean | Promise<boolean>,
  ): Promise<SpendHold> {
    if (await orUnavailable(Promise.resolve(willShare))) return this.sharedHold(hold, budgets);
    const { id, accountId } = hold;
    await this.hold(hold, budgets());
    if (this.events.isWanted) this.events.begun(id, budgets());
    return {
      recordId: id,
      release: () => {
        this.events.released(id);
        this.end(accountId, id, deleteHold(id));
      },
      settle: (cost) => {
        if (cost === undefined) this.running.remove(id);
        else this.end(accountId, id, updateHold(id, cost));
      },
    };
  }

  private sharedHold({ id }: BudgetHold, budgets: Budgets): SpendHold {
    if (this.events.isWanted) this.events.begun(id, budgets());
    return {
      recordId: id,
      release: () => {
        this.events.released(id);
        this.shared.release(id);
      },
      settle: (cost) => {
        if (cost !== undefined) this.shared.settle(id, cost);
      },
    };
  }

  /** Reserves the money of one stream in the database. */
  private async hold(hold: BudgetHold, budgets: readonly CurrentBudget[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (await orUnavailable(this.running.take(hold, budgets))) return;
      const states = await this.states(budgets);
      const index = states.findIndex((state) => remainingOf(state) < hold.micros / MICROS);
      // Another stream may have released its money between the two statements.
      if (index >= 0 || attempt === MAX_ATTEMPTS) throw this.refusal(budgets, states, Math.max(0, index), hold.micros);
    }
  }

  private end(accountId: string, id: string, statement: ReturnType<typeof deleteHold>): void {
    this.running.remove(id);
    // If the database is unavailable, the record of the stream removes the hold later, or the hold expires.
    this.queue.run(accountId, statement).catch(() => undefined);
  }

  private budgetsOf(principal: Principal, now: number): readonly CurrentBudget[] {
    const { accountId, tier } = principal;
    const restrictions = restrictionsOf(principal);
    const ofAccount = tier.budget && currentBudget(tier.budget, { accountId, key: undefined }, now);
    const ofKey =
      restrictions?.budget && currentBudget(restrictions.budget, { accountId, key: restrictions.countedAs }, now);
    return [ofAccount, ofKey].filter((budget) => budget !== undefined);
  }

  private async states(budgets: readonly CurrentBudget[]): Promise<BudgetState[]> {
    const { currency } = this.config;
    const expired = this.running.expiredAt(this.now());
    const states: BudgetState[] = [];
    for (const budget of budgets) {
      const [use] = await orUnavailable(this.queue.run(budget.accountId, selectUse(budget, currency, expired)));
      states.push(budgetState(budget, use, currency));
    }
    return states;
  }

  /** @param index the budget that leaves too little. */
  private refusal(
    budgets: readonly CurrentBudget[],
    states: readonly BudgetState[],
    index: number,
    micros: number,
  ): ServiceError {
    const [budget, state] = [budgets[index], states[index]];
    if (budget === undefined || state === undefined) throw new Error('A request without a budget was refused.');
    this.events.refused(budget, micros);
    const { amount, spent, reserved, currency, per } = state;
    const owner = budget.key === undefined ? 'account' : 'API key';
    return new ServiceError(
      'budget_exceeded',
      `The budget of the ${owner} is ${amount} ${currency} per ${per}. ${spent} is spent, running requests have reserved ${reserved}, and this request needs up to ${micros / MICROS}.`,
      { retryAfterSeconds: Math.max(1, Math.ceil((budget.resetsAt - this.now()) / 1000)) },
    );
  }
}

function remainingOf({ amount, spent, reserved }: BudgetState): number {
  return amount - spent - reserved;
}
