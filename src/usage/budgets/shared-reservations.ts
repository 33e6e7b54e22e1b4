import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { timeOrderedId } from '../../platform/common/time-ordered-id.js';
import { elapsedMs, sleep } from '../../platform/common/timers/pace.js';
import { PeriodicTask } from '../../platform/common/timers/periodic-task.js';
import { UsageLedger } from '../ledger/usage-ledger.js';
import { deleteReservation, type BudgetReservation, type CurrentBudget } from './budget-statements.js';
import { RunningReservations } from './running-reservations.js';

/**
 * Money that one process has reserved in the database for the streams of a busy caller. Streams take their share in memory.
 *
 * The row in the database always covers the shares of all streams whose records are not stored yet. A stored record counts as spent
 * money, so its share never becomes available again: only {@link grow} makes more money available. All amounts are in millionths of
 * the currency unit.
 */
export class SharedReservation {
  /** What the row in the database covers, less the shares of records that were stored since the row was written. */
  private granted = 0;
  /** The shares of the streams whose records are not stored yet. */
  private taken = 0;
  /** The amount of the row. After a failed write, it is not known. */
  private written = 0;
  private writing: Promise<boolean> | undefined;
  /** The shares of records that were stored while the row is written. */
  private storedMeanwhile = 0;

  /**
   * @param write writes the row, on the condition that the budgets have `needed` left besides this row. Without `needed`, there is no
   * condition. Returns whether the row was written.
   */
  constructor(private readonly write: (micros: number, needed?: number) => Promise<boolean>) {}

  /** Whether no stream has a share. */
  get isFree(): boolean {
    return this.taken === 0;
  }

  /** Whether the row has more money than the streams need. */
  get hasSpare(): boolean {
    return this.written > this.taken;
  }

  /** Takes a share for a stream, if enough money is available. */
  take(micros: number): boolean {
    if (this.taken + micros > this.granted) return false;
    this.taken += micros;
    return true;
  }

  /** Changes the share of a stream. A smaller share makes money available. */
  change(from: number, to: number): void {
    this.taken += to - from;
  }

  /** The record of a stream with this share is stored. */
  stored(micros: number): void {
    this.taken -= micros;
    this.granted -= micros;
    this.storedMeanwhile += micros;
  }

  /**
   * Makes `spare` money available, if the budgets have much more left: `reserve` times as much.
   *
   * @returns whether the money is available.
   */
  async grow(spare: number, reserve: number): Promise<boolean> {
    return this.set(spare, this.taken + spare * reserve);
  }

  /** Gives all money back that no stream needs. */
  async shrink(): Promise<void> {
    // A write that fails leaves nothing to give back. A row of 0 would then be written for nothing.
    while (this.writing !== undefined) await this.writing.catch(() => undefined);
    if (this.hasSpare) await this.set(0);
  }

  private async set(spare: number, needed?: number): Promise<boolean> {
    // One write at a time, so that the row has the amount of the latest one.
    while (this.writing !== undefined) await this.writing.catch(() => undefined);
    const target = this.taken + spare;
    this.storedMeanwhile = 0;
    // While the row is written, streams may only take what it covers both before and after.
    this.granted = Math.min(this.granted, target);
    const before = this.written;
    this.written = Infinity;
    this.writing = this.write(target, needed);
    try {
      const isWritten = await this.writing;
      if (isWritten) this.granted = target - this.storedMeanwhile;
      this.written = isWritten ? target : before;
      return isWritten;
    } finally {
      this.writing = undefined;
    }
  }
}

const ROUND_MS = 1000;
/** A caller with so many requests within a round is busy. */
const BUSY_REQUESTS = 20;
/** A shared reservation needs a budget that has so many times as much left. Otherwise, each request reserves its own money. */
const RESERVE = 16;
/** How often a request waits for money. Meanwhile, other requests may take it. */
const ATTEMPTS = 3;
/** How long a shutdown waits for the records of the streams, and for the database to delete the reservations. */
const SHUTDOWN_MS = 5000;

/** An account, with one API key or without. */
type BudgetCaller = Pick<BudgetReservation, 'accountId' | 'keyId'>;

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
  /** Whether the budgets have too little left for a shared reservation, up to the end of the round. */
  isTight: boolean;
  growing: Promise<boolean> | undefined;
  reservation: { readonly id: string; readonly shared: SharedReservation } | undefined;
}

/**
 * Lets the requests of a busy caller share one reservation, so that not every request needs a transaction. The reservation has the money for about
 * one second. It is taken only while the budgets have at least 16 times as much left, and each round returns what was not needed.
 * So the budgets stay exact, and a budget that is almost used up is shared by all processes request by request.
 */
@Injectable()
export class SharedReservations implements OnModuleInit, BeforeApplicationShutdown {
  private readonly callers = new Map<string, BusyCaller>();
  /** The shares of streams whose records are not stored yet, by the id of the record. */
  private readonly shares = new Map<string, { readonly shared: SharedReservation; micros: number }>();
  private task: PeriodicTask | undefined;
  private isStopping = false;

  constructor(
    private readonly running: RunningReservations,
    private readonly ledger: UsageLedger,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  onModuleInit(): void {
    this.ledger.listenStored((recordIds) => {
      for (const id of this.shares.size > 0 ? recordIds : []) this.stored(id);
    });
  }

  /**
   * Takes the money of a stream from the shared reservation of its caller.
   *
   * @param recordId the id of the record that the stream will get.
   * @returns `false` if the caller is not busy, or its budgets have little left. The stream must then reserve its own money. The
   * result is a promise only if the reservation must grow first, so that most requests of a busy caller need not wait.
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
    const { reservation } = busy;
    if (reservation === undefined && (busy.requests < BUSY_REQUESTS || busy.isTight || this.isStopping)) return false;
    if (reservation?.shared.take(micros) !== true) return this.takeLater(busy, recordId, micros);
    this.shares.set(recordId, { shared: reservation.shared, micros });
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

  /** Waits until the ledger has stored the records, and the database the end of all reservations. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.task?.stop();
    const until = elapsedMs() + SHUTDOWN_MS;
    for (;;) {
      await this.round();
      if ((this.callers.size === 0 && this.running.isSettled) || elapsedMs() > until) return;
      await sleep(50);
    }
  }

  private callerOf({ accountId, keyId }: BudgetCaller, budgets: () => readonly CurrentBudget[]): BusyCaller {
    const name = `${accountId} ${keyId ?? ''}`;
    const known = this.callers.get(name);
    if (known !== undefined) return known;
    const counts = { requests: 0, micros: 0, microsBefore: 0, waiting: 0, isTight: false };
    const added: BusyCaller = { accountId, keyId, ...counts, budgets, growing: undefined, reservation: undefined };
    this.callers.set(name, added);
    if (this.task === undefined) {
      this.task = new PeriodicTask(() => this.round());
      this.task.start(ROUND_MS);
    }
    return added;
  }

  /** Reserves money for about one more second, and takes the money of the stream. */
  private async takeLater(caller: BusyCaller, recordId: string, micros: number): Promise<boolean> {
    const { shared } = (caller.reservation ??= this.open(caller));
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
  private async grow(caller: BusyCaller, shared: SharedReservation, least: number): Promise<boolean> {
    try {
      const isGrown = await shared.grow(Math.max(least, caller.micros, caller.microsBefore), RESERVE);
      if (!isGrown) caller.isTight = true;
      return isGrown;
    } finally {
      caller.growing = undefined;
    }
  }

  private open(caller: BusyCaller): { readonly id: string; readonly shared: SharedReservation } {
    const { accountId, keyId } = caller;
    const id = timeOrderedId(this.now());
    const write = (micros: number, needed?: number): Promise<boolean> =>
      this.running.take({ id, accountId, keyId, micros, needed }, needed === undefined ? [] : caller.budgets());
    return { id, shared: new SharedReservation(write) };
  }

  private stored(recordId: string): void {
    const share = this.shares.get(recordId);
    if (share === undefined) return;
    share.shared.stored(share.micros);
    this.shares.delete(recordId);
  }

  /** Returns what the last round did not need. */
  private async round(): Promise<number> {
    this.running.retry();
    for (const [name, caller] of this.callers) {
      const isIdle = caller.requests === 0;
      caller.microsBefore = caller.micros;
      caller.requests = 0;
      caller.micros = 0;
      caller.isTight = false;
      try {
        const { reservation, waiting } = caller;
        if (isIdle && waiting === 0 && reservation?.shared.isFree !== false) this.close(name, caller);
        else if (reservation !== undefined) await this.adjust(caller, reservation.shared);
      } catch {
        // The database did not answer. The row covers at least what the streams need, and the next round tries again.
      }
    }
    return ROUND_MS;
  }

  private async adjust(caller: BusyCaller, shared: SharedReservation): Promise<void> {
    const isGrown = caller.microsBefore > 0 && !this.isStopping && (await this.grow(caller, shared, 0));
    if (!isGrown) await shared.shrink();
  }

  private close(name: string, { accountId, reservation }: BusyCaller): void {
    this.callers.delete(name);
    if (reservation !== undefined) this.running.end(accountId, reservation.id, deleteReservation(reservation.id));
  }
}
