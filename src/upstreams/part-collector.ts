import type { ServiceError } from '../common/service-error.js';
import type { CallTrace } from './call-trace.js';
import { finishWord } from './finish-word.js';
import type { StreamPart } from './stream-part.js';

/** Sums up the parts of one answer: the text to pass on, and how far the answer is. */
export class PartCollector {
  private text = '';
  /** The vendor has said that the answer is whole. */
  complete = false;
  /** Nothing that follows counts. */
  over = false;
  /** What the vendor reported as its failure. */
  error: ServiceError | undefined;
  /** A part came that shows the vendor at work on the answer. The reader of the sign takes it down. */
  signOfLife = false;

  constructor(private readonly trace: CallTrace) {}

  /** Nothing is missing, and nothing but the text that was not taken yet can follow. */
  get isWhole(): boolean {
    return this.over && this.error === undefined;
  }

  add(part: StreamPart): void {
    if (this.over) return;
    switch (part.type) {
      case 'text':
        this.text += part.text;
        this.trace.addText(part.text);
        this.signOfLife = true;
        break;
      case 'progress':
        this.signOfLife = true;
        break;
      case 'usage':
        this.trace.usage = merged(this.trace.usage, part.usage);
        break;
      case 'finish':
        this.trace.finish = { reason: part.reason, raw: finishWord(part.raw, part.reason) };
        break;
      case 'complete':
        this.complete = true;
        this.over = part.last;
        break;
      case 'error':
        this.fail(part.error);
        break;
    }
  }

  /** Ends the answer with a failure. Text that came before it can still be taken. */
  fail(error: ServiceError): void {
    this.error ??= error;
    this.over = true;
  }

  /** The text since the last call. Half a character at its end waits for the other half, which may be in the next event. */
  takeText(): string {
    const { text } = this;
    if (text === '') return text;
    const keep = !this.over && isHighSurrogate(text.charCodeAt(text.length - 1)) ? 1 : 0;
    this.text = text.slice(text.length - keep);
    return wellFormed(keep === 0 ? text : text.slice(0, -keep));
  }
}

function merged(before: CallTrace['usage'], now: CallTrace['usage']): CallTrace['usage'] {
  return {
    promptTokens: now.promptTokens ?? before.promptTokens,
    completionTokens: now.completionTokens ?? before.completionTokens,
  };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** A half that stays alone is no character: the client could not decode it. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}
