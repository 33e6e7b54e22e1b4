import { ServiceError } from '../../../src/platform/common/service-error.js';
import { nextPart, type PartReader } from '../../../src/upstreams/completion/part-stream.js';
import type { CompletionPart } from '../../../src/upstreams/contract/stream-part.js';
import type { VirtualTime } from './virtual-time.js';

/** What a provider does, in milliseconds of the test. */
export interface AnswerPlan {
  readonly firstMs: number;
  readonly pieces: number;
  readonly pieceMs: number;
  readonly end: 'done' | 'refused' | 'broken';
}

const REFUSED = new ServiceError('upstream_error', 'The provider has refused the request.');
const BROKEN = new ServiceError('upstream_error', 'The provider has broken off.');

/** An answer of a provider, with the interface of a completion. */
export class SimulatedAnswer implements PartReader {
  onReadable: () => void = () => undefined;
  readonly accepted = Promise.resolve();
  readonly started: Promise<void>;
  private resolveStarted!: () => void;
  private rejectStarted!: (error: Error) => void;
  private readonly arrived: CompletionPart[] = [];
  private failure: Error | undefined;
  private isComplete = false;
  private isThrown = false;
  private sent = 0;

  /**
   * @param name makes the text unlike that of all other answers.
   * @param onOver called once at the end, with the failure if there is one.
   */
  constructor(
    private readonly time: VirtualTime,
    readonly name: string,
    private readonly plan: AnswerPlan,
    private readonly onOver: (failure?: Error) => void,
  ) {
    this.started = new Promise((resolve, reject) => {
      this.resolveStarted = resolve;
      this.rejectStarted = reject;
    });
    this.started.catch(() => undefined);
    time.after(plan.firstMs, () => {
      this.proceed();
    });
  }

  /** The whole text. */
  get text(): string {
    return Array.from({ length: this.plan.pieces }, (_, number) => this.piece(number)).join('');
  }

  get isOver(): boolean {
    return this.isComplete && this.arrived.length === 0 && this.failure === undefined;
  }

  get isWhole(): boolean {
    return this.isOver;
  }

  read(): CompletionPart | undefined {
    const part = this.arrived.shift();
    if (part !== undefined) return part;
    if (this.failure === undefined || this.isThrown) return undefined;
    this.isThrown = true;
    throw this.failure;
  }

  stop(reason: Error): void {
    if (this.isComplete || this.failure !== undefined) return;
    this.fail(reason);
  }

  return(): Promise<IteratorResult<CompletionPart, undefined>> {
    return Promise.resolve({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<CompletionPart, undefined>> {
    return nextPart(this);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private proceed(): void {
    if (this.isComplete || this.failure !== undefined) return;
    const { pieces, pieceMs, end } = this.plan;
    if (end === 'refused') this.fail(REFUSED);
    else if (this.sent < (end === 'broken' ? pieces / 2 : pieces)) {
      this.arrived.push({ type: 'text', text: this.piece(this.sent++) });
      this.resolveStarted();
      this.time.after(pieceMs, () => {
        this.proceed();
      });
      this.onReadable();
    } else if (end === 'broken') this.fail(BROKEN);
    else {
      this.isComplete = true;
      this.resolveStarted();
      this.onOver();
      this.onReadable();
    }
  }

  private piece(number: number): string {
    return `${this.name}.${number} `;
  }

  private fail(reason: Error): void {
    this.failure = reason;
    this.onOver(reason);
    this.rejectStarted(reason);
    this.onReadable();
  }
}
