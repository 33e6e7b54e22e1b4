import type { EventBody, ItemStatus, OutputItem } from './output-item.js';

/** A message with the text of the answer. */
export class MessageItem implements OutputItem {
  private text = '';

  constructor(
    private readonly id: string,
    readonly index: number,
  ) {}

  begin(): EventBody[] {
    return [{ type: 'response.content_part.added', ...this.place, part: this.part }];
  }

  add(text: string): EventBody[] {
    this.text += text;
    return [{ type: 'response.output_text.delta', ...this.place, delta: text, logprobs: [] }];
  }

  close(): EventBody[] {
    return [
      { type: 'response.output_text.done', ...this.place, text: this.text, logprobs: [] },
      { type: 'response.content_part.done', ...this.place, part: this.part },
    ];
  }

  snapshot(status: ItemStatus): object {
    const content = status === 'in_progress' ? [] : [this.part];
    return { type: 'message', id: this.id, status, role: 'assistant', content };
  }

  private get part(): object {
    return { type: 'output_text', text: this.text, annotations: [], logprobs: [] };
  }

  private get place() {
    return { item_id: this.id, output_index: this.index, content_index: 0 };
  }
}
