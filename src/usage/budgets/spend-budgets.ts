import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { restrictionsOf, type Principal } from '../../auth/principal/principal.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { utcDay } from '../../common/utc-day.js';
import { CONFIG, type Config, type TierConfig } from '../../config/config.js';
import { MICROS, periodOf, type Budget } from '../../config/limits/budget.js';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { recordId } from '../record/record-id.js';
import {
  deleteHold,
  insertHold,
  selectUse,
  updateHold,
  type BudgetOwner,
  type CurrentBudget,
} from './budget-statements.js';
import { HoldQueue } from './hold-queue.js';
import { RunningHolds } from './running-holds.js';

/** A budget and what remains of it, in units of the currency. */
export interface BudgetState {
  readonly amount: number;
  /** The cost of the streams of the period that are over, from the ledger. */
  readonly spent: number;
  /** The most that the running streams can cost. */
  readonly reserved: number;
  readonly currency: string;
  readonly per: Budget['per'];
  readonly resetsAt: Date;
}

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
   * @throws {ServiceError} `budget_exceeded`, and `unavailable` when the database does not answer.
   */
  async reserve(principal: Principal, micros: number): Promise<SpendHold> {
    const now = this.now();
    const { accountId, credential } = principal;
    const budgets = this.budgetsOf(principal, now);
    const id = recordId(now);
    const keyId = credential.kind === 'api_key' ? credential.keyId : undefined;
    const { currency } = this.config;
    const expired = this.running.expiredAt(now);
    const hold = { id, accountId, keyId, micros };
    const added = await orUnavailable(
      this.queue.run(accountId, insertHold(hold, budgets, currency, new Date(now).toISOString(), expired)),
    );
    if (added.length !== 1) throw await this.refusal(budgets, micros, now);
    this.running.add(id);
    return {
      recordId: id,
      release: () => {
        this.end(accountId, id, deleteHold(id));
      },
      settle: (cost) => {
        if (cost === undefined) this.running.remove(id);
        else this.end(accountId, id, updateHold(id, cost));
      },
    };
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
    return (await this.states([current(budget, { accountId, key: undefined }, this.now())]))[0];
  }

  onModuleDestroy(): void {
    this.running.stop();
  }

  private end(accountId: string, id: string, statement: ReturnType<typeof deleteHold>): void {
    this.running.remove(id);
    // If the database is unavailable, the record of the stream removes the hold later, or the hold expires.
    this.queue.run(accountId, statement).catch(() => undefined);
  }

  private budgetsOf(principal: Principal, now: number): readonly CurrentBudget[] {
    const { accountId, tier } = principal;
    const restrictions = restrictionsOf(principal);
    const ofAccount = tier.budget && current(tier.budget, { accountId, key: undefined }, now);
    const ofKey = restrictions?.budget && current(restrictions.budget, { accountId, key: restrictions.countedAs }, now);
    return [ofAccount, ofKey].filter((budget) => budget !== undefined);
  }

  private async states(budgets: readonly CurrentBudget[]): Promise<BudgetState[]> {
    const { currency } = this.config;
    const expired = this.running.expiredAt(this.now());
    const states: BudgetState[] = [];
    for (const budget of budgets) {
      const [use] = await orUnavailable(this.queue.run(budget.accountId, selectUse(budget, currency, expired)));
      states.push({
        amount: budget.micros / MICROS,
        spent: Number(use?.['spent'] ?? 0) / MICROS,
        reserved: Number(use?.['reserved'] ?? 0) / MICROS,
        currency,
        per: budget.per,
        resetsAt: new Date(budget.resetsAt),
      });
    }
    return states;
  }

  private async refusal(budgets: readonly CurrentBudget[], micros: number, now: number): Promise<ServiceError> {
    const states = await this.states(budgets);
    const index = states.findIndex((state) => remainingOf(state) < micros / MICROS);
    const [budget, state] = [budgets[index] ?? budgets[0], states[index] ?? states[0]];
    if (budget === undefined || state === undefined) throw new Error('A request without a budget was refused.');
    const { amount, spent, reserved, currency, per } = state;
    const owner = budget.key === undefined ? 'account' : 'API key';
    return new ServiceError(
      'budget_exceeded',
      `The budget of the ${owner} is ${amount} ${currency} per ${per}. ${spent} is spent, running requests have reserved ${reserved}, and this request needs up to ${micros / MICROS}.`,
      { retryAfterSeconds: Math.max(1, Math.ceil((budget.resetsAt - now) / 1000)) },
    );
  }
}

function current({ micros, per }: Budget, owner: BudgetOwner, now: number): CurrentBudget {
  const { from, until } = periodOf(per, now);
  return { ...owner, micros, per, from: utcDay(from), until: utcDay(until), resetsAt: until };
}

function remainingOf({ amount, spent, reserved }: BudgetState): number {
  return amount - spent - reserved;
}
