/** Where the answer of one attempt is. */
type Phase =
  /** The request was sent, and the provider has not answered. */
  | 'sent'
  /** The provider refuses the request, and only the reason is missing. */
  | 'refused'
  /** The provider has accepted the request, and parts arrive. */
  | 'arriving'
  /** The provider has marked the answer as complete. Token counts and the end of the body may follow. */
  | 'marked'
  /** The answer went on after its mark. Some providers mark each event of an answer in this way. */
  | 'continued'
  /** The body has ended after a mark. What it has left unfinished still counts, but its failure does not. */
  | 'closing'
  /** The answer is complete, and nothing more is read. The reader takes the rest. */
  | 'whole'
  /** The answer has failed. The reader takes what came before. */
  | 'broken'
  /** The ends of an attempt, see `AttemptEnd`. */
  | 'complete'
  | 'failed'
  | 'stopped';

/**
 * What happens to an answer: `mark` and `last` say that it is complete, and `last` that nothing follows. `close` is the end of the
 * body, `end` the end of all that was in it, `lose` a failure of the transport, `fail` one of the answer. The reader has `taken` all.
 */
type Event = 'accept' | 'refuse' | 'content' | 'mark' | 'last' | 'close' | 'end' | 'lose' | 'fail' | 'taken' | 'stop';

/** An event that a phase does not name changes nothing. */
const TRANSITIONS: Readonly<Record<Phase, Readonly<Partial<Record<Event, Phase>>>>> = {
  sent: { accept: 'arriving', refuse: 'refused', lose: 'broken', fail: 'broken', stop: 'stopped' },
  refused: { lose: 'broken', fail: 'broken', stop: 'stopped' },
  arriving: { mark: 'marked', last: 'whole', lose: 'broken', fail: 'broken', stop: 'stopped' },
  marked: {
    ...{ content: 'continued', last: 'whole', close: 'closing', end: 'whole' },
    ...{ lose: 'whole', fail: 'broken', stop: 'stopped' },
  },
  continued: { last: 'whole', close: 'closing', end: 'whole', lose: 'broken', fail: 'broken', stop: 'stopped' },
  closing: { last: 'whole', end: 'whole', lose: 'whole', fail: 'whole', stop: 'stopped' },
  whole: { fail: 'broken', taken: 'complete', stop: 'stopped' },
  broken: { taken: 'failed', stop: 'stopped' },
  complete: {},
  failed: {},
  stopped: {},
};

const OPEN: ReadonlySet<Phase> = new Set(['sent', 'refused', 'arriving', 'marked', 'continued', 'closing']);
const MARKED: ReadonlySet<Phase> = new Set(['marked', 'continued', 'closing', 'whole', 'complete']);
const OVER: ReadonlySet<Phase> = new Set(['complete', 'failed', 'stopped']);

/** The state of the answer of one attempt. The source, the collector and the attempt share it. */
export class AnswerState {
  private phase: Phase = 'sent';
  private reason: Error | undefined;
  private open = true;
  private marked = false;

  is(phase: Phase): boolean {
    return this.phase === phase;
  }

  /** True while further parts count. Asked for each part. */
  get isOpen(): boolean {
    return this.open;
  }

  /** True when the provider has marked the answer as complete, and it has not failed. */
  get isMarked(): boolean {
    return this.marked;
  }

  /** True when the attempt is over. */
  get isOver(): boolean {
    return OVER.has(this.phase);
  }

  /** Why the answer has failed. */
  get failure(): Error | undefined {
    return this.reason;
  }

  on(event: Exclude<Event, 'lose' | 'fail' | 'end'>): void {
    this.change(event);
  }

  /** The answer has failed. What came before can still be taken. Only the first failure counts. */
  fail(failure: Error, event: 'lose' | 'fail' = 'fail'): void {
    this.change(event);
    if (this.phase === 'broken') this.reason ??= failure;
  }

  /** Nothing more arrives. An answer without a mark is not complete. */
  end(failure: () => Error): void {
    this.change('end');
    if (this.isOpen) this.fail(failure());
  }

  private change(event: Event): void {
    const next = TRANSITIONS[this.phase][event];
    if (next === undefined) return;
    this.phase = next;
    this.open = OPEN.has(next);
    this.marked = MARKED.has(next);
  }
}
