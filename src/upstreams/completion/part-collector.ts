import type { CompletionPart, StreamPart, TokenUsage } from '../contract/stream-part.js';
import type { CallTrace } from './call-trace.js';
import { recordedFinishReason } from './finish-reason.js';

type PieceType = 'text' | 'reasoning';

/** Collects the parts of one answer: what its reader takes next, and the state of the answer. */
export class PartCollector {
  /** The parts before {@link piece}, in order. Empty for nearly every read, because most reads bring only text. */
  private readonly queue: CompletionPart[] = [];
  /** The last piece. Neighbouring pieces of one type are joined until the reader takes them. */
  private piece = '';
  private pieceType: PieceType = 'text';
  /** True when token counts have arrived that the reader has not taken. They follow the pieces, see {@link take}. */
  private hasNewUsage = false;
  /** True when the provider has marked the answer as complete. */
  complete = false;
  /** True when all further parts are ignored. */
  over = false;
  /** The failure of the answer: reported by the provider, or passed to {@link fail}. */
  error: Error | undefined;
  /** True when a part shows that the provider works on the answer. The reader of this flag resets it. */
  signOfLife = false;

  /** @param includesReasoning whether the reader gets the reasoning. Otherwise reasoning is only a sign of life. */
  constructor(
    private readonly trace: CallTrace,
    private readonly includesReasoning = false,
  ) {}

  /** True when the answer is complete and its whole text is taken. */
  get isWhole(): boolean {
    return this.over && this.error === undefined && this.piece === '';
  }

  add(part: StreamPart): void {
    if (this.over) return;
    switch (part.type) {
      case 'text':
        this.join('text', part.text);
        this.trace.addText(part.text);
        this.signOfLife = true;
        break;
      case 'reasoning':
        if (this.includesReasoning) this.join('reasoning', part.text);
        this.signOfLife = true;
        break;
      case 'progress':
        this.signOfLife = true;
        break;
      case 'usage':
        this.trace.usage = merged(this.trace.usage, part.usage);
        this.hasNewUsage = true;
        break;
      case 'finish': {
        const { reason } = part;
        const raw = recordedFinishReason(part.raw, reason);
        this.trace.finish = { reason, raw };
        this.closePiece();
        this.closeUsage();
        this.queue.push({ type: 'finish', reason, raw });
        break;
      }
      case 'complete':
        this.complete = true;
        this.over = part.last;
        break;
      case 'error':
        this.fail(part.error);
        break;
    }
  }

  /** Ends the answer with a failure. What came before the failure can still be taken. */
  fail(error: Error): void {
    this.error ??= error;
    this.over = true;
  }

  /**
   * Returns the next part. Keeps half a character at the end of a piece until the other half arrives in a later event.
   * Token counts follow the text that arrived with them: some providers send counts in each event, and the counts must not
   * divide the text. Returns `undefined` when there is nothing to take now.
   */
  take(): CompletionPart | undefined {
    if (this.queue.length === 0 && this.piece === '') this.closeUsage();
    const first = this.queue.shift();
    if (first !== undefined) return first;
    const { piece } = this;
    if (piece === '') return undefined;
    const heldBack = !this.over && isHighSurrogate(piece.charCodeAt(piece.length - 1)) ? 1 : 0;
    if (heldBack === piece.length) return undefined;
    this.piece = heldBack === 0 ? '' : piece.slice(-heldBack);
    return { type: this.pieceType, text: wellFormed(heldBack === 0 ? piece : piece.slice(0, -heldBack)) };
  }

  private join(type: PieceType, text: string): void {
    if (this.pieceType !== type) {
      this.closePiece();
      this.pieceType = type;
    }
    this.piece += text;
  }

  /** Moves the token counts to the queue. */
  private closeUsage(): void {
    if (!this.hasNewUsage) return;
    this.hasNewUsage = false;
    this.queue.push({ type: 'usage', usage: this.trace.usage });
  }

  /** Moves the last piece to the queue, because a part of another type follows. */
  private closePiece(): void {
    const { piece, pieceType } = this;
    if (piece === '') return;
    this.piece = '';
    this.queue.push({ type: pieceType, text: wellFormed(piece) });
  }
}

function merged(before: TokenUsage, now: TokenUsage): TokenUsage {
  const known = Object.entries(now).filter(([, count]) => count !== undefined);
  return { ...before, ...(Object.fromEntries(known) as TokenUsage) };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Replaces halves of characters that have no other half, because the client cannot decode them. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}
