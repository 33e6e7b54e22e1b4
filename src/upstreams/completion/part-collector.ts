import type { CompletionPart, StreamPart, TokenUsage } from '../contract/stream-part.js';
import type { CallTrace } from './call-trace.js';
import { finishWord } from './finish-word.js';

type PieceType = 'text' | 'reasoning';

/** Collects the parts of one answer: what its reader takes next, and the state of the answer. */
export class PartCollector {
  /** The parts before {@link piece}, in order. Empty for nearly every read, because most reads bring only text. */
  private readonly queue: CompletionPart[] = [];
  /** The last piece. Neighbouring pieces of one type are joined until the reader takes them. */
  private piece = '';
  private pieceType: PieceType = 'text';
  /** True when the provider has marked the answer as complete. */
  complete = false;
  /** True when all further parts are ignored. */
  over = false;
  /** The failure of the answer: reported by the provider, or passed to {@link fail}. */
  error: Error | undefined;
  /** True when a part shows that the provider works on the answer. The reader of this flag resets it. */
  signOfLife = false;

  /** @param keepsReasoning whether the reader gets the reasoning. Otherwise reasoning is only a sign of life. */
  constructor(
    private readonly trace: CallTrace,
    private readonly keepsReasoning = false,
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
        if (this.keepsReasoning) this.join('reasoning', part.text);
        this.signOfLife = true;
        break;
      case 'progress':
        this.signOfLife = true;
        break;
      case 'usage':
        this.trace.usage = merged(this.trace.usage, part.usage);
        this.push({ type: 'usage', usage: this.trace.usage });
        break;
      case 'finish': {
        const { reason } = part;
        const raw = finishWord(part.raw, reason);
        this.trace.finish = { reason, raw };
        this.push({ type: 'finish', reason, raw });
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
   * Returns `undefined` when there is nothing to take now.
   */
  take(): CompletionPart | undefined {
    const first = this.queue.shift();
    if (first !== undefined) return first;
    const { piece } = this;
    if (piece === '') return undefined;
    const end = this.over ? piece.length : endOfWholeCharacters(piece);
    if (end === 0) return undefined;
    this.piece = piece.slice(end);
    return { type: this.pieceType, text: wellFormed(piece.slice(0, end)) };
  }

  private join(type: PieceType, text: string): void {
    if (this.pieceType !== type) {
      // A part of another type cannot bring the other half of a character.
      this.closePiece(this.piece.length);
      this.pieceType = type;
    }
    this.piece += text;
  }

  private push(part: CompletionPart): void {
    // The other half of a character may still come after token counts.
    this.closePiece(endOfWholeCharacters(this.piece));
    this.queue.push(part);
  }

  /** Moves the last piece up to `end` to the queue, because a part of another type follows. */
  private closePiece(end: number): void {
    const { piece, pieceType } = this;
    if (end === 0) return;
    this.piece = piece.slice(end);
    this.queue.push({ type: pieceType, text: wellFormed(piece.slice(0, end)) });
  }
}

function merged(before: TokenUsage, now: TokenUsage): TokenUsage {
  const known = Object.entries(now).filter(([, count]) => count !== undefined);
  return { ...before, ...(Object.fromEntries(known) as TokenUsage) };
}

/** Returns the end of the text without half a character at its end. */
function endOfWholeCharacters(text: string): number {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length;
}

/** Replaces halves of characters that have no other half, because the client cannot decode them. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}
