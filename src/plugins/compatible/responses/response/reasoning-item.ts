import { encodeState, type ReasoningState } from '../reasoning-state.js';
import type { EventBody, ItemStatus, OutputItem } from './output-item.js';

/** How the text of reasoning is shown. */
export type ReasoningForm = 'content' | 'summary';

/** The names of the events and members of both forms. */
const FORMS = {
  content: {
    index: 'content_index',
    part: 'reasoning_text',
    partEvent: 'response.content_part',
    text: 'response.reasoning_text',
  },
  summary: {
    index: 'summary_index',
    part: 'summary_text',
    partEvent: 'response.reasoning_summary_part',
    text: 'response.reasoning_summary_text',
  },
} as const;

/** A block of reasoning, or the signature of a call, which has no text. */
export class ReasoningItem implements OutputItem {
  private text = '';
  private state: ReasoningState | undefined;

  constructor(
    private readonly id: string,
    readonly index: number,
    private readonly form: ReasoningForm,
  ) {}

  add(text: string): EventBody[] {
    const isFirst = this.text === '';
    const { partEvent, text: textEvent } = FORMS[this.form];
    const added = isFirst ? [{ type: `${partEvent}.added`, ...this.place, part: this.part }] : [];
    this.text += text;
    return [...added, { type: `${textEvent}.delta`, ...this.place, delta: text }];
  }

  /** Keeps what the next turn must send back. */
  keep(state: ReasoningState): void {
    this.state = { ...state, ...(this.text !== '' && { text: this.text }) };
  }

  close(): EventBody[] {
    if (this.text === '') return [];
    const { partEvent, text: textEvent } = FORMS[this.form];
    return [
      { type: `${textEvent}.done`, ...this.place, text: this.text },
      { type: `${partEvent}.done`, ...this.place, part: this.part },
    ];
  }

  snapshot(status: ItemStatus): object {
    const parts = this.text === '' ? [] : [this.part];
    return {
      type: 'reasoning',
      id: this.id,
      status,
      summary: this.form === 'summary' ? parts : [],
      ...(this.form === 'content' && { content: parts }),
      ...(this.state !== undefined && { encrypted_content: encodeState(this.state) }),
    };
  }

  private get part(): object {
    return { type: FORMS[this.form].part, text: this.text };
  }

  private get place(): object {
    return { item_id: this.id, output_index: this.index, [FORMS[this.form].index]: 0 };
  }
}
