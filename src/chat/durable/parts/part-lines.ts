import type { CompletionPart } from '../../../upstreams/contract/stream-part.js';
import type { PartWriter } from '../generation.js';

/** One line of the log of a conversation. Most lines are texts, so a text is a JSON string. */
export type PartLine = string | Exclude<CompletionPart, { readonly type: 'text' }> | FactsLine;

/** What a surface keeps next to the parts: `head` before the first part, `tail` after the last one. */
export interface FactsLine {
  readonly type: 'head' | 'tail';
  readonly facts: unknown;
}

/** Writes all parts of an answer to a log, one JSON text per line, so that each reader gets the same parts. */
export class PartLines implements PartWriter {
  /**
   * @param head facts before the first part, such as the id of the answer.
   * @param tail returns facts after the last part, when the answer is complete, such as its token counts.
   */
  constructor(
    private readonly head: unknown,
    private readonly tail: () => unknown,
  ) {}

  begin(): string {
    return lineOf({ type: 'head', facts: this.head });
  }

  part(part: CompletionPart): string {
    return lineOf(part.type === 'text' ? part.text : part);
  }

  end(): string {
    return lineOf({ type: 'tail', facts: this.tail() });
  }
}

function lineOf(line: PartLine): string {
  return `${JSON.stringify(line)}\n`;
}
