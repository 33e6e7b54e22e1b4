import type { EventBody, ItemStatus, OutputItem } from './output-item.js';

/** A call of a tool. */
export class CallItem implements OutputItem {
  private json = '';

  constructor(
    private readonly id: string,
    private readonly index: number,
    private readonly call: { readonly id: string; readonly name: string },
  ) {}

  begin(): EventBody[] {
    return [{ type: 'response.output_item.added', output_index: this.index, item: this.snapshot('in_progress') }];
  }

  add(json: string): EventBody[] {
    this.json += json;
    return [{ type: 'response.function_call_arguments.delta', ...this.place, delta: json }];
  }

  close(status: ItemStatus): EventBody[] {
    const { name } = this.call;
    return [
      { type: 'response.function_call_arguments.done', ...this.place, name, arguments: this.json },
      { type: 'response.output_item.done', output_index: this.index, item: this.snapshot(status) },
    ];
  }

  snapshot(status: ItemStatus): object {
    const { id, name } = this.call;
    return { type: 'function_call', id: this.id, call_id: id, name, arguments: this.json, status };
  }

  private get place() {
    return { item_id: this.id, output_index: this.index };
  }
}
