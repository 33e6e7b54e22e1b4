import type {
  CompletionPart,
  FinishPart,
  ReasoningPart,
  StreamPart,
  TokenUsage,
  ToolCallStartPart,
} from '../contract/stream-part.js';
import { isHighSurrogate } from '../../common/text/surrogates.js';
import { AnswerToolCalls } from './answer-tool-calls.js';
import type { CallTrace } from './call-trace.js';
import { recordedFinishReason } from './finish-reason.js';
import { markedState } from './provider-state.js';

type PieceType = 'text' | 'reasoning' | 'tool_call_delta';
type ToolCallPart = Extract<StreamPart, { readonly type: `tool_call_${string}` }>;

/** Collects the parts of one answer: what its reader takes next, and the state of the answer. */
export class PartCollector {
  /** The parts before {@link piece}, in order. Empty for nearly every read, because most reads bring only text. */
  private readonly queue: CompletionPart[] = [];
  /** The last piece. Neighbouring pieces of one type are joined until the reader takes them. */
  private piece = '';
  private pieceType: PieceType = 'text';
  /** The id of the tool call to which a piece of arguments belongs. */
  private pieceCall = '';
  private calls: AnswerToolCalls | undefined;
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

  /**
   * @param includesReasoning whether the reader gets the reasoning. Otherwise reasoning is only a sign of life.
   * @param protocol the name that marks the opaque state of the provider, see {@link markedState}.
   * @param includesToolCalls whether the reader gets tool calls. Otherwise they are only a sign of life, and are not checked.
   */
  constructor(
    private readonly trace: CallTrace,
    private readonly includesReasoning = false,
    private readonly includesToolCalls = false,
    private readonly protocol = '',
  ) {}

  /** True when the answer is complete and only its end is left to take. */
  get isWhole(): boolean {
    return this.over && this.error === undefined && this.piece === '' && this.queue.every(isOfTheEnd);
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
        if (this.includesReasoning) this.addReasoning(part);
        this.signOfLife = true;
        break;
      case 'tool_call_start':
      case 'tool_call_delta':
      case 'tool_call_end':
        if (this.includesToolCalls) this.addToolCall(part);
        this.signOfLife = true;
        break;
      case 'progress':
        this.signOfLife = true;
        break;
      case 'usage':
        this.trace.usage = merged(this.trace.usage, part.usage);
        this.hasNewUsage = true;
        break;
      case 'finish':
        this.addFinish(part);
        break;
      case 'complete':
        this.addComplete(part.last);
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
    return this.partOf(wellFormed(heldBack === 0 ? piece : piece.slice(0, -heldBack)));
  }

  private partOf(text: string): CompletionPart {
    const { pieceType } = this;
    return pieceType === 'tool_call_delta'
      ? { type: pieceType, id: this.pieceCall, json: text }
      : { type: pieceType, text };
  }

  private join(type: PieceType, text: string, call = ''): void {
    if (this.pieceType !== type || this.pieceCall !== call) {
      this.closePiece();
      this.pieceType = type;
      this.pieceCall = call;
    }
    this.piece += text;
  }

  /** A part with a signature or an encrypted form ends its block, so it is not joined. */
  private addReasoning(part: ReasoningPart): void {
    if (part.signature === undefined && part.encrypted === undefined) {
      this.join('reasoning', part.text);
      return;
    }
    this.closePiece();
    const { text, signature, encrypted } = part;
    this.queue.push({
      type: 'reasoning',
      text: wellFormed(text),
      ...(signature !== undefined && { signature: markedState(this.protocol, signature) }),
      ...(encrypted !== undefined && { encrypted: markedState(this.protocol, encrypted) }),
    });
  }

  /** A call after the end of the answer is not part of the answer. */
  private addToolCall(part: ToolCallPart): void {
    if (this.complete) return;
    const calls = (this.calls ??= new AnswerToolCalls(this.trace));
    try {
      switch (part.type) {
        case 'tool_call_start':
          this.closePiece();
          this.queue.push(this.withMark(calls.start(part)));
          break;
        case 'tool_call_delta':
          calls.add(part);
          this.join('tool_call_delta', part.json, part.id);
          break;
        case 'tool_call_end': {
          const missing = calls.end(part);
          if (missing !== '') this.join('tool_call_delta', missing, part.id);
          this.closePiece();
          this.queue.push({ type: 'tool_call_end', id: part.id });
          break;
        }
      }
    } catch (error) {
      this.fail(error as Error);
    }
  }

  private withMark(part: ToolCallStartPart): ToolCallStartPart {
    const { signature } = part;
    return signature === undefined ? part : { ...part, signature: markedState(this.protocol, signature) };
  }

  /** Some providers say `stop` although the model has called a tool. */
  private addFinish(part: FinishPart): void {
    const reason = part.reason === 'stop' && this.calls !== undefined ? 'tool_calls' : part.reason;
    const raw = recordedFinishReason(part.raw, reason);
    this.trace.finish = { reason, raw };
    this.closePiece();
    this.closeUsage();
    this.queue.push({ type: 'finish', reason, raw });
  }

  private addComplete(isLast: boolean): void {
    const cut = this.calls?.cutCall();
    if (cut !== undefined) {
      this.fail(cut);
      return;
    }
    this.complete = true;
    this.over = isLast;
  }

  /** Moves the token counts to the queue. */
  private closeUsage(): void {
    if (!this.hasNewUsage) return;
    this.hasNewUsage = false;
    this.queue.push({ type: 'usage', usage: this.trace.usage });
  }

  /** Moves the last piece to the queue, because a part of another type follows. */
  private closePiece(): void {
    const { piece } = this;
    if (piece === '') return;
    this.piece = '';
    this.queue.push(this.partOf(wellFormed(piece)));
  }
}

function isOfTheEnd({ type }: CompletionPart): boolean {
  return type === 'usage' || type === 'finish';
}

function merged(before: TokenUsage, now: TokenUsage): TokenUsage {
  const known = Object.entries(now).filter(([, count]) => count !== undefined);
  return { ...before, ...(Object.fromEntries(known) as TokenUsage) };
}

/** Replaces halves of characters that have no other half, because the client cannot decode them. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}
