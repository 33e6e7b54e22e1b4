export interface FairQueueOptions {
  /** How many jobs run at the same time. */
  readonly atOnce: number;
  /** How many jobs may wait, of all parties together. */
  readonly mayWait: number;
  /** Creates the error for a job that the queue refuses, either at once or later to make room for another party. */
  readonly refusal: () => Error;
}

interface Waiter {
  begin(): void;
  refuse(): void;
}

/**
 * Runs expensive jobs for several parties, with a bounded number at a time. Parties take turns: the first job of each party
 * runs before the second job of any party. A full queue makes room for a party with few waiting jobs by refusing the newest
 * job of the party with the most waiting jobs. So one party may use the whole queue, but only while no other party needs it.
 */
export class FairQueue {
  private running = 0;
  private waiting = 0;
  /** The waiting jobs by party. The party whose turn is next comes first. A party without waiting jobs has no entry. */
  private readonly lines = new Map<string, Waiter[]>();

  constructor(private readonly options: FairQueueOptions) {}

  /**
   * Runs the job when it is the party's turn.
   *
   * @throws the configured refusal, when too many jobs wait.
   */
  async run<T>(party: string, job: () => Promise<T>): Promise<T> {
    if (this.running < this.options.atOnce) this.running++;
    else await this.turnOf(party);
    try {
      return await job();
    } finally {
      // The place goes straight to the next job, so that no new job can take it first.
      if (!this.beginNext()) this.running--;
    }
  }

  private turnOf(party: string): Promise<void> {
    if (this.waiting >= this.options.mayWait && !this.makeRoomFor(party)) return Promise.reject(this.options.refusal());
    return new Promise((resolve, reject) => {
      const line = this.lines.get(party) ?? [];
      line.push({
        begin: resolve,
        refuse: () => {
          reject(this.options.refusal());
        },
      });
      this.lines.set(party, line);
      this.waiting++;
    });
  }

  /**
   * Refuses the newest job of the party with the most waiting jobs. That party must still have at least as many waiting jobs
   * as `party` has with its new job.
   */
  private makeRoomFor(party: string): boolean {
    const own = this.lines.get(party)?.length ?? 0;
    let longest: Waiter[] = [];
    for (const line of this.lines.values()) if (line.length > longest.length) longest = line;
    if (longest.length <= own + 1) return false;
    longest.pop()?.refuse();
    this.waiting--;
    return true;
  }

  private beginNext(): boolean {
    for (const [party, line] of this.lines) {
      this.lines.delete(party);
      const next = line.shift();
      // The party moves to the end of the order, behind all other parties.
      if (line.length > 0) this.lines.set(party, line);
      this.waiting--;
      next?.begin();
      return true;
    }
    return false;
  }
}
