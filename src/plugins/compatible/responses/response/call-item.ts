import { rawJson } from '../../../../plugin-api/core/common.js';
import { customInput } from '../../shared/custom-tools.js';
import type { ToolOrigin } from '../offered-tools.js';
import type { EventBody, ItemStatus, OutputItem } from './output-item.js';

/** The beginning of the id of an item. */
export const CALL_ID_PREFIXES: Readonly<Record<ToolOrigin['kind'], string>> = {
  function: 'fc',
  custom: 'ctc',
  tool_search: 'tsc',
};

/** A call of a tool. The arguments of a function are sent as they arrive, and the input of other tools when it is complete. */
export class CallItem implements OutputItem {
  private json = '';

  constructor(
    private readonly id: string,
    readonly index: number,
    private readonly callId: string,
    private readonly origin: ToolOrigin,
  ) {}

  add(json: string): EventBody[] {
    this.json += json;
    if (this.origin.kind !== 'function') return [];
    return [{ type: 'response.function_call_arguments.delta', ...this.place, delta: json }];
  }

  snapshot(status: ItemStatus): object {
    const { name, namespace } = this.origin;
    const call = { id: this.id, call_id: this.callId, status };
    const named = { name, ...(namespace !== undefined && { namespace }) };
    switch (this.origin.kind) {
      case 'function':
        return { type: 'function_call', ...call, ...named, arguments: this.json };
      case 'custom':
        return { type: 'custom_tool_call', ...call, ...named, input: this.input };
      case 'tool_search':
        return { type: 'tool_search_call', ...call, execution: 'client', arguments: parsed(this.json) };
    }
  }

  close(): EventBody[] {
    switch (this.origin.kind) {
      case 'function': {
        const { name } = this.origin;
        return [{ type: 'response.function_call_arguments.done', ...this.place, name, arguments: this.json }];
      }
      case 'custom':
        return [
          { type: 'response.custom_tool_call_input.delta', ...this.place, delta: this.input },
          { type: 'response.custom_tool_call_input.done', ...this.place, input: this.input },
        ];
      case 'tool_search':
        return [];
    }
  }

  private get input(): string {
    return customInput(this.json);
  }

  private get place() {
    return { item_id: this.id, output_index: this.index };
  }
}

/** The arguments as the model has written them. Arguments that are not JSON stay a text. */
function parsed(json: string): unknown {
  try {
    JSON.parse(json);
    return rawJson(json);
  } catch {
    return json;
  }
}
