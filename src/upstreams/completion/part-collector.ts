import type { ServiceError } from '../../common/service-error.js';
import type { CallTrace } from './call-trace.js';
import { finishWord } from './finish-word.js';
import type { StreamPart } from '../contract/stream-part.js';

/** Collects the parts of one answer: the text for the client and the state of the answer. */
export class PartCollector {
  private text = '';
  /** True when the provider has marked the answer as complete. */
  complete = false;
  /** True when all further parts are ignored. */
  over = false;
  /** The failure of the answer: reported by the provider, or passed to {@link fail}. */
  error: ServiceError | undefined;
  /** True when a part shows that the provider works on the answer. The reader of this flag resets it. */
  signOfLife = false;

  constructor(private readonly trace: CallTrace) {}

  /** True when the answer is complete. Only text that is not taken yet can follow. */
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

  /** Ends the answer with a failure. The text before the failure can still be taken. */
  fail(error: ServiceError): void {
    this.error ??= error;
    this.over = true;
  }

  /**
   * Returns the text since the last call. Keeps half a character at the end until the other half arrives in a later event.
   */
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
    inputTokens: now.inputTokens ?? before.inputTokens,
    outputTokens: now.outputTokens ?? before.outputTokens,
  };
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** Replaces halves of characters that have no other half, because the client cannot decode them. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}
