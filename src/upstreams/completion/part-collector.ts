import type {
  CompletionPart,
  FinishPart,
  ReasoningPart,
  StreamPart,
  ToolCallStartPart,
} from '../contract/stream-part.js';
import { recordedFinishReason } from '../contract/finish-reason.js';
import { providerFailure } from '../contract/provider-failure.js';
import { isHighSurrogate } from '../../platform/common/text/cut-text.js';
import { AnswerToolCalls } from './answer-tool-calls.js';
import { laterUsage } from '../protocols/shared/token-count.js';
import { AnswerState } from './answer-state.js';
import type { CallTrace } from './call-trace.js';
import { markedState, type StateOwner } from './provider-state.js';

type PieceType = 'text' | 'reasoning' | 'tool_call_delta';
type ToolCallPart = Extract<StreamPart, { readonly type: `tool_call_${string}` }>;

const NOBODY: StateOwner = { protocol: '', upstream: '' };

/** Collects the parts of one answer: what its reader takes next. */
export class PartCollector {
  readonly state = new AnswerState();
  /** The parts before {@link piece}, in order. Empty for nearly every read, because most reads bring only text. */
  private readonly queue: CompletionPart[] = [];
  /** The last piece. Neighbouring pieces of one type are joined until the reader takes them. */
  private piece = '';
  private pieceType: PieceType = 'text';
  /** The id of the tool call to which a piece of arguments belongs. */
  private pieceCall = '';
  private calls: AnswerToolCalls | undefined;
  /** The finish of an answer with a call that may be cut. The finish waits for the token counts, which show whether the call is cut. */
  private heldFinish: FinishPart | undefined;
  /** True when token counts have arrived that the reader has not taken. They follow the pieces, see {@link take}. */
  private hasNewUsage = false;
  private hasContent = false;
  /** True when a part shows that the provider works on the answer. The reader of this flag resets it. */
  signOfLife = false;

  /**
   * @param includesReasoning whether the reader gets the reasoning. Otherwise reasoning is only a sign of life.
   * @param owner the owner of the opaque state of the answer, see {@link markedState}.
   * @param includesToolCalls whether the reader gets tool calls. Otherwise they are only a sign of life, and are not checked.
   * @param maxTokens the maximum number of tokens of the answer.
   */
  constructor(
    private readonly trace: CallTrace,
    private readonly includesReasoning = false,
    private readonly includesToolCalls = false,
    private readonly owner: StateOwner = NOBODY,
    private readonly maxTokens?: number,
  ) {}

  /** True when the answer is complete and only its end is left to take. */
  get isWhole(): boolean {
    const { state } = this;
    const isOver = (state.is('whole') || state.is('complete')) && this.heldFinish === undefined;
    return isOver && this.piece === '' && this.queue.every(isOfTheEnd);
  }

  /**
   * True when the provider has sent no text, no tool call and no reasoning, so there is no answer. Reasoning can be hidden: then only
   * its tokens show, or the limit of tokens that it has reached.
   */
  get isEmpty(): boolean {
    const { finish, usage } = this.trace;
    return !this.hasContent && finish?.reason !== 'length' && (usage.reasoningOutputTokens ?? 0) === 0;
  }

  add(part: StreamPart): void {
    if (!this.state.isOpen) return;
    switch (part.type) {
      case 'text':
        if (this.calls !== undefined) this.closeCalls(this.calls.settle());
        this.join('text', part.text);
        this.trace.addText(part.text);
        this.addContent();
        break;
      case 'reasoning':
        this.trace.addReasoning(part.text);
        if (part.encrypted !== undefined) this.trace.addReasoning(part.encrypted);
        if (this.includesReasoning) this.addReasoning(part);
        this.addContent();
        break;
      case 'tool_call_start':
      case 'tool_call_delta':
      case 'tool_call_end':
        if (this.includesToolCalls) this.addToolCall(part);
        else this.addUnreadToolCall(part);
        this.addContent();
        break;
      case 'progress':
        this.signOfLife = true;
        break;
      case 'usage':
        this.trace.usage = laterUsage(this.trace.usage, part.usage);
        this.hasNewUsage = true;
        break;
      case 'finish':
        this.addFinish(part);
        break;
      case 'complete':
        this.addComplete(part.last);
        break;
      case 'error':
        this.state.fail(part.error);
        break;
    }
  }

  /**
   * Returns the next part. Keeps half a character at the end of a piece until the other half arrives in a later event.
   * Token counts follow the text that arrived with them: some providers send counts in each event, and the counts must not
   * divide the text. Returns `undefined` when there is nothing to take now.
   */
  take(): CompletionPart | undefined {
    if (this.state.is('whole')) this.releaseFinish();
    if (this.queue.length === 0 && this.piece === '') this.closeUsage();
    const first = this.queue.shift();
    if (first !== undefined) return first;
    const { piece } = this;
    if (piece === '') return undefined;
    const heldBack = this.state.isOpen && isHighSurrogate(piece.charCodeAt(piece.length - 1)) ? 1 : 0;
    if (heldBack === piece.length) return undefined;
    this.piece = heldBack === 0 ? '' : piece.slice(-heldBack);
    return this.partOf(wellFormed(heldBack === 0 ? piece : piece.slice(0, -heldBack)));
  }

  private addContent(): void {
    this.hasContent = this.signOfLife = true;
    if (this.state.isMarked) this.state.on('content');
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
      ...(signature !== undefined && { signature: markedState(this.owner, signature) }),
      ...(encrypted !== undefined && { encrypted: markedState(this.owner, encrypted) }),
    });
  }

  private addToolCall(part: ToolCallPart): void {
    const calls = (this.calls ??= new AnswerToolCalls(this.trace));
    try {
      if (this.state.isMarked)
        throw providerFailure('upstream_error', 'A tool call goes on after the end of the answer.');
      switch (part.type) {
        case 'tool_call_start': {
          this.closeCalls(calls.settle());
          const start = this.withMark(calls.start(part));
          this.closePiece();
          this.queue.push(start);
          break;
        }
        case 'tool_call_delta': {
          const { id, json } = calls.add(part);
          this.join('tool_call_delta', json, id);
          break;
        }
        case 'tool_call_end':
          this.closeCalls(calls.end(part));
          break;
      }
    } catch (error) {
      this.state.fail(error as Error);
    }
  }

  /** Adds the ends of calls. */
  private closeCalls(parts: readonly ToolCallPart[]): void {
    if (parts.length === 0) return;
    this.closePiece();
    this.queue.push(...parts);
  }

  /** A call that nobody reads is not part of the answer, but the provider charges it. */
  private addUnreadToolCall(part: ToolCallPart): void {
    if (part.type === 'tool_call_start') this.trace.addReasoning(part.name);
    else if (part.type === 'tool_call_delta') this.trace.addReasoning(part.json);
  }

  private withMark(part: ToolCallStartPart): ToolCallStartPart {
    const { signature } = part;
    return signature === undefined ? part : { ...part, signature: markedState(this.owner, signature) };
  }

  /** Some providers say `stop` although the model has called a tool. */
  private addFinish(part: FinishPart): void {
    const reason = part.reason === 'stop' && this.calls !== undefined ? 'tool_calls' : part.reason;
    const raw = recordedFinishReason(part.raw, reason);
    this.trace.finish = { reason, raw };
    const finish: FinishPart = { type: 'finish', reason, raw };
    this.heldFinish = reason === 'tool_calls' && this.calls?.isWaiting === true ? finish : undefined;
    if (this.heldFinish !== undefined) return;
    if (this.calls !== undefined) this.closeCalls(this.calls.settle(reason));
    this.pushFinish(finish);
  }

  /**
   * Some servers say `tool_calls` although the answer has reached its limit of tokens inside a call (vllm-project/vllm issue 53269). A
   * call whose arguments are no JSON is cut if the answer has used all of its tokens. Otherwise the model has written the arguments so.
   */
  private releaseFinish(): void {
    const { heldFinish, calls, maxTokens = Infinity } = this;
    if (heldFinish === undefined || calls === undefined) return;
    this.heldFinish = undefined;
    const isAtLimit = (this.trace.usage.outputTokens ?? 0) >= maxTokens;
    this.closeCalls(calls.settle(isAtLimit ? 'length' : heldFinish.reason));
    const cut = calls.cutCall(isAtLimit ? 'length' : heldFinish.reason);
    if (cut === undefined) this.pushFinish(heldFinish);
    else this.state.fail(cut);
  }

  private pushFinish(part: FinishPart): void {
    this.closePiece();
    this.closeUsage();
    this.queue.push(part);
  }

  /** With an unknown reason, the answer is not complete. A known reason may still follow, unless this is the end. */
  private addComplete(isLast: boolean): void {
    if (this.trace.finish?.reason === 'other') {
      if (isLast) this.state.fail(providerFailure('upstream_error', 'The finish reason is unknown.'));
      return;
    }
    const event = isLast ? 'last' : 'mark';
    if (this.heldFinish !== undefined) {
      this.state.on(event);
      return;
    }
    const reason = this.trace.finish?.reason ?? 'none';
    if (this.calls !== undefined) this.closeCalls(this.calls.settle(reason));
    const cut = this.calls?.cutCall(reason);
    if (cut === undefined) this.state.on(event);
    else this.state.fail(cut);
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

/** Replaces halves of characters that have no other half, because the client cannot decode them. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}
