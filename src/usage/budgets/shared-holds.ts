import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { CLOCK, type Clock } from '../../common/clock.js';
import { timeOrderedId } from '../../common/time-ordered-id.js';
import { Rounds } from '../../common/timers/rounds.js';
import { UsageLedger } from '../ledger/usage-ledger.js';
import { deleteHold, type BudgetHold } from './budget-statements.js';
import type { CurrentBudget } from './current-budget.js';
import { HoldQueue } from './hold-queue.js';
import { RunningHolds } from './running-holds.js';
import { SharedHold } from './shared-hold.js';

const ROUND_MS = 1000;
/** A caller with so many requests within a round is busy. */
const BUSY_REQUESTS = 20;
/** A shared hold needs a budget that has so many times as much left. Otherwise, each request reserves its own money. */
const RESERVE = 16;
/** How often a request waits for money. Meanwhile, other requests may take it. */
const ATTEMPTS = 3;
/** How long a shutdown waits for the records of the streams. */
const SHUTDOWN_MS = 5000;

/** An account, with one API key or without. */
export type BudgetCaller = Pick<BudgetHold, 'accountId' | 'keyId'>;

interface BusyCaller extends BudgetCaller {
  /** The requests and their money in this round. */
  requests: number;
  micros: number;
  /** The money of the requests in the round before. */
  microsBefore: number;
  /** The budgets of the latest request. */
  budgets: () => readonly CurrentBudget[];
  /** The requests that wait for their money. */
  waiting: number;
  /** Whether the budgets have too little left for a shared hold, up to the end of the round. */
  isTight: boolean;
  growing: Promise<boolean> | undefined;
  hold: { readonly id: string; readonly shared: SharedHold } | undefined;
}

/**
 * Lets the requests of a busy caller share one hold, so that not every request needs a transaction. The hold has the money for about
 * one second. It is taken only while the budgets have at least 16 times as much left, and each round returns what was not needed.
 * So the budgets stay exact, and a budget that is almost used up is shared by all processes request by request.
 */
@Injectable()
export class SharedHolds implements OnModuleInit, BeforeApplicationShutdown {
  private readonly callers = new Map<string, BusyCaller>();
  /** The shares of streams whose records are not stored yet, by the id of the record. */
  private readonly shares = new Map<string, { readonly shared: SharedHold; micros: number }>();
  private rounds: Rounds | undefined;
  private isStopping = false;

  constructor(
    private readonly queue: HoldQueue,
    private readonly running: RunningHolds,
    private readonly ledger: UsageLedger,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  onModuleInit(): void {
    this.ledger.listenStored((recordIds) => {
      for (const id of this.shares.size > 0 ? recordIds : []) this.stored(id);
    });
  }

  /**
   * Takes the money of a stream from the shared hold of its caller.
   *
   * @param recordId the id of the record that the stream will get.
   * @returns `false` if the caller is not busy, or its budgets have little left. The stream must then reserve its own money. The
   * result is a promise only if the hold must grow first, so that most requests of a busy caller need not wait.
   * @throws {Error} when the database does not answer.
   */
  take(
    caller: BudgetCaller,
    recordId: string,
    micros: number,
    budgets: () => readonly CurrentBudget[],
  ): boolean | Promise<boolean> {
    const busy = this.callerOf(caller, budgets);
    busy.requests += 1;
    busy.micros += micros;
    busy.budgets = budgets;
    const { hold } = busy;
    if (hold === undefined && (busy.requests < BUSY_REQUESTS || busy.isTight || this.isStopping)) return false;
    if (hold?.shared.take(micros) !== true) return this.takeLater(busy, recordId, micros);
    this.shares.set(recordId, { shared: hold.shared, micros });
    return true;
  }

  /** The stream has not begun, and gets no record. */
  release(recordId: string): void {
    this.settle(recordId, 0);
    this.shares.delete(recordId);
  }

  /** Replaces the money of the stream by its cost. */
  settle(recordId: string, micros: number): void {
    const share = this.shares.get(recordId);
    if (share === undefined) return;
    share.shared.change(share.micros, micros);
    share.micros = micros;
  }

  /** Returns all money, as soon as the ledger has stored the records. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.rounds?.stop();
    const until = performance.now() + SHUTDOWN_MS;
    for (;;) {
      await this.round();
      if (this.callers.size === 0 || performance.now() > until) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  private callerOf({ accountId, keyId }: BudgetCaller, budgets: () => readonly CurrentBudget[]): BusyCaller {
    const name = `${accountId} ${keyId ?? ''}`;
    const known = this.callers.get(name);
    if (known !== undefined) return known;
    const counts = { requests: 0, micros: 0, microsBefore: 0, waiting: 0, isTight: false };
    const added: BusyCaller = { accountId, keyId, ...counts, budgets, growing: undefined, hold: undefined };
    this.callers.set(name, added);
    if (this.rounds === undefined) {
      this.rounds = new Rounds(() => this.round());
      this.rounds.start(ROUND_MS);
    }
    return added;
  }

  /** Reserves money for about one more second, and takes the money of the stream. */
  private async takeLater(caller: BusyCaller, recordId: string, micros: number): Promise<boolean> {
    const { shared } = (caller.hold ??= this.open(caller));
    caller.waiting += 1;
    try {
      for (let attempt = 0; attempt < ATTEMPTS && !caller.isTight && !this.isStopping; attempt++) {
        caller.growing ??= this.grow(caller, shared, micros);
        if (!(await caller.growing) || !shared.take(micros)) continue;
        this.shares.set(recordId, { shared, micros });
        return true;
      }
      // The request then competes for all that is left.
      await shared.shrink();
      return false;
    } finally {
      caller.waiting -= 1;
    }
  }

  /** @param least the least money to make available. */
  private async grow(caller: BusyCaller, shared: SharedHold, least: number): Promise<boolean> {
    try {
      const isGrown = await shared.grow(Math.max(least, caller.micros, caller.microsBefore), RESERVE);
      if (!isGrown) {
        caller.isTight = true;
        if (!shared.isWritten) caller.hold = undefined;
      }
      return isGrown;
    } finally {
      caller.growing = undefined;
    }
  }

  private open(caller: BusyCaller): { readonly id: string; readonly shared: SharedHold } {
    const { accountId, keyId } = caller;
    const id = timeOrderedId(this.now());
    const write = (micros: number, needed?: number): Promise<boolean> =>
      this.running.take({ id, accountId, keyId, micros, needed }, needed === undefined ? [] : caller.budgets());
    return { id, shared: new SharedHold(write) };
  }

  private stored(recordId: string): void {
    const share = this.shares.get(recordId);
    if (share === undefined) return;
    share.shared.stored(share.micros);
    this.shares.delete(recordId);
  }

  /** Returns what the last round did not need. */
  private async round(): Promise<number> {
    for (const [name, caller] of this.callers) {
      const isIdle = caller.requests === 0;
      caller.microsBefore = caller.micros;
      caller.requests = 0;
      caller.micros = 0;
      caller.isTight = false;
      try {
        const { hold, waiting } = caller;
        if (isIdle && waiting === 0 && hold?.shared.isFree !== false) await this.close(name, caller);
        else if (hold !== undefined) await this.adjust(caller, hold.shared);
      } catch {
        // The database did not answer. The row covers at least what the streams need, and the next round tries again.
      }
    }
    return ROUND_MS;
  }

  private async adjust(caller: BusyCaller, shared: SharedHold): Promise<void> {
    const isGrown = caller.microsBefore > 0 && !this.isStopping && (await this.grow(caller, shared, 0));
    if (!isGrown) await shared.shrink();
  }

  private async close(name: string, { accountId, hold }: BusyCaller): Promise<void> {
    this.callers.delete(name);
    if (hold === undefined) return;
    this.running.remove(hold.id);
    await this.queue.run(accountId, deleteHold(hold.id));
  }
}
