import { Inject, Injectable } from '@nestjs/common';
import { restrictionsOf, type Principal } from '../../auth/principal/principal.js';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { CONFIG, type Config, type TierConfig } from '../../platform/config/config.js';
import { MICROS, type Budget } from '../../platform/config/limits/budget.js';
import type { Row } from '../../platform/database/queries/atomic-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { BudgetEvents } from './budget-events.js';
import type { CostBound } from './reserved-cost.js';
import {
  deleteReservation,
  selectUse,
  updateReservation,
  type BudgetReservation,
  currentBudget,
  type CurrentBudget,
} from './budget-statements.js';
import { ReservationQueue, RunningReservations } from './running-reservations.js';
import { SharedReservations } from './shared-reservations.js';

/** How often a request tries to reserve money that other streams release meanwhile. */
const MAX_ATTEMPTS = 4;
/** The tokens of a usual answer. */
const USUAL_ANSWER_TOKENS = 1024;

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
export interface SpendReservation {
  /** The most tokens of the answer that the money covers. */
  readonly maxTokens: number;
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
export class SpendBudgets {
  constructor(
    private readonly queue: ReservationQueue,
    private readonly running: RunningReservations,
    private readonly shared: SharedReservations,
    private readonly events: BudgetEvents,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Whether the account or the API key of the caller has a budget. */
  limits(principal: Principal): boolean {
    return principal.tier.budget !== undefined || restrictionsOf(principal)?.budget !== undefined;
  }

  /**
   * Reserves the most that a stream can cost. If less is left, an answer for which the client has set no limit gets a lower one.
   *
   * @param id the id of the record of the stream.
   * @returns a promise only if the database must be queried.
   * @throws {ServiceError} `budget_exceeded`, and `unavailable` when the database does not answer.
   */
  reserve(principal: Principal, bound: CostBound, id: string): SpendReservation | Promise<SpendReservation> {
    const { accountId, credential } = principal;
    const keyId = credential.kind === 'api_key' ? credential.keyId : undefined;
    const micros = bound.microsOf(bound.answer);
    const reservation = { id, accountId, keyId, micros };
    const budgets = () => this.budgetsOf(principal, this.now());
    const isShared = this.shared.take(reservation, id, micros, budgets);
    return isShared === true
      ? this.reserved(id, bound.answer, budgets, this.shared)
      : this.reserveLater(reservation, bound, budgets, isShared);
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

  private async reserveLater(
    reservation: BudgetReservation,
    bound: CostBound,
    budgets: Budgets,
    willShare: boolean | Promise<boolean>,
  ): Promise<SpendReservation> {
    const { id, accountId } = reservation;
    if (await orUnavailable(Promise.resolve(willShare))) return this.reserved(id, bound.answer, budgets, this.shared);
    const maxTokens = await this.reserveMoney(reservation, bound, budgets());
    return this.reserved(id, maxTokens, budgets, {
      release: () => {
        this.running.end(accountId, id, deleteReservation(id));
      },
      settle: (_, cost) => {
        this.running.end(accountId, id, updateReservation(id, cost));
      },
    });
  }

  private reserved(
    recordId: string,
    maxTokens: number,
    budgets: Budgets,
    owner: Pick<SharedReservations, 'release' | 'settle'>,
  ): SpendReservation {
    if (this.events.isWanted) this.events.started(recordId, budgets());
    return {
      maxTokens,
      recordId,
      release: () => {
        this.events.released(recordId);
        owner.release(recordId);
      },
      settle: (cost) => {
        if (cost !== undefined) owner.settle(recordId, cost);
      },
    };
  }

  /** Reserves the money of one stream in the database. Returns the most tokens of the answer that the money covers. */
  private async reserveMoney(
    reservation: BudgetReservation,
    bound: CostBound,
    budgets: readonly CurrentBudget[],
  ): Promise<number> {
    let { answer } = bound;
    for (let attempt = 1; ; attempt++) {
      const micros = bound.microsOf(answer);
      if (await orUnavailable(this.running.takeOnce({ ...reservation, micros }, budgets))) return answer;
      const states = await this.states(budgets);
      const left = Math.min(...states.map(remainingMicrosOf));
      // Another stream may have released its money between the two statements.
      if (micros <= left && attempt < MAX_ATTEMPTS) continue;
      const lower = bound.isRequested ? 0 : loweredAnswer(bound.answerFor(left));
      if (lower < 1 || attempt === MAX_ATTEMPTS) throw this.refusal(budgets, states, bound);
      answer = Math.min(bound.answer, lower);
    }
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
    const states: BudgetState[] = [];
    for (const budget of budgets) {
      const [use] = await orUnavailable(this.queue.run(budget.accountId, selectUse(budget, currency)));
      states.push(budgetState(budget, use, currency));
    }
    return states;
  }

  private refusal(budgets: readonly CurrentBudget[], states: readonly BudgetState[], bound: CostBound): ServiceError {
    const tightest = Math.min(...states.map(remainingMicrosOf));
    const index = states.findIndex((state) => remainingMicrosOf(state) === tightest);
    const [budget, state] = [budgets[index], states[index]];
    if (budget === undefined || state === undefined) throw new Error('A request without a budget was refused.');
    // Without a limit of the client, a request needs its prompt and one token.
    const needed = bound.microsOf(bound.isRequested ? bound.answer : 1);
    this.events.refused(budget, needed);
    const retryAfterSeconds = Math.max(1, Math.ceil((budget.resetsAt - this.now()) / 1000));
    const fitsLater = budgets.every(({ micros }) => needed <= micros);
    return new ServiceError('budget_exceeded', refusalMessage(budget, state, bound, needed), {
      ...(fitsLater && { retryAfterSeconds }),
    });
  }
}

/**
 * An answer without a limit of the client gets half of what is left, but at least a usual answer if there is enough, so that other
 * requests can run at the same time.
 */
function loweredAnswer(affordable: number): number {
  return Math.max(Math.min(affordable, USUAL_ANSWER_TOKENS), Math.floor(affordable / 2));
}

function refusalMessage(budget: CurrentBudget, state: BudgetState, bound: CostBound, needed: number): string {
  const { amount, spent, reserved, currency, per } = state;
  const money = (micros: number): string => `${micros / MICROS} ${currency}`;
  const owner = budget.key === undefined ? 'account' : 'API key';
  const facts =
    `The budget of the ${owner} is ${amount} ${currency} per ${per}. ${spent} ${currency} is spent, running requests have ` +
    `reserved ${reserved} ${currency}, and this request needs up to ${money(needed)}.`;
  const now = bound.answerFor(remainingMicrosOf(state));
  if (now >= 1) return `${facts} Set max_tokens to at most ${now}.`;
  const whole = bound.answerFor(budget.micros);
  if (whole < 1) return `${facts} The prompt alone costs more than the whole budget: send a shorter prompt.`;
  if (whole < bound.answer && bound.isRequested)
    return `${facts} In the next ${per}, set max_tokens to at most ${whole}.`;
  return facts;
}

function remainingMicrosOf(state: BudgetState): number {
  return Math.round(remainingOf(state) * MICROS);
}

function remainingOf({ amount, spent, reserved }: BudgetState): number {
  return amount - spent - reserved;
}
