import type { StreamPart } from '../../contract/stream-part.js';
import { NOTHING, PROGRESS } from '../shared/event-parts.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';
import { newToolCallId } from '../shared/tool-calls.js';

/** A block with more than text. */
type OpenBlock = { readonly type: 'call'; readonly id: string } | { readonly type: 'reasoning'; signature: string };

/** The blocks of one message that have begun and not ended. */
export class OpenBlocks {
  private readonly open = new Map<unknown, OpenBlock>();

  start({ index, content_block: block }: JsonObject): readonly StreamPart[] {
    if (!isJsonObject(block)) return NOTHING;
    switch (block.type) {
      case 'text':
        return textParts(block.text);
      case 'thinking':
        this.open.set(index, { type: 'reasoning', signature: isText(block.signature) ? block.signature : '' });
        return isText(block.thinking) ? [{ type: 'reasoning', text: block.thinking }] : PROGRESS;
      case 'redacted_thinking':
        if (!isText(block.data)) return PROGRESS;
        return [{ type: 'reasoning', text: '', encrypted: block.data }];
      case 'tool_use':
        return this.startCall(index, block);
      default:
        return PROGRESS;
    }
  }

  /** All deltas that the service does not know (citations) are only signs of progress. */
  add({ index, delta }: JsonObject): readonly StreamPart[] {
    if (!isJsonObject(delta)) return NOTHING;
    const block = this.open.get(index);
    switch (delta.type) {
      case 'text_delta':
        return textParts(delta.text);
      case 'thinking_delta':
        return isText(delta.thinking) ? [{ type: 'reasoning', text: delta.thinking }] : PROGRESS;
      case 'signature_delta':
        if (block?.type === 'reasoning' && isText(delta.signature)) block.signature += delta.signature;
        return PROGRESS;
      case 'input_json_delta':
        if (block?.type !== 'call' || !isText(delta.partial_json)) return PROGRESS;
        return [{ type: 'tool_call_delta', id: block.id, json: delta.partial_json }];
      default:
        return PROGRESS;
    }
  }

  stop({ index }: JsonObject): readonly StreamPart[] {
    const block = this.open.get(index);
    if (block === undefined) return NOTHING;
    this.open.delete(index);
    if (block.type === 'call') return [{ type: 'tool_call_end', id: block.id }];
    if (block.signature === '') return NOTHING;
    return [{ type: 'reasoning', text: '', signature: block.signature }];
  }

  /** Some servers send the whole input with the beginning of the call. */
  private startCall(index: unknown, { id, name, input }: JsonObject): readonly StreamPart[] {
    const call = isText(id) ? id : newToolCallId();
    this.open.set(index, { type: 'call', id: call });
    const start: StreamPart = { type: 'tool_call_start', id: call, name: isText(name) ? name : '', index: 0 };
    const isWhole = isJsonObject(input) && Object.keys(input).length > 0;
    return isWhole ? [start, { type: 'tool_call_delta', id: call, json: JSON.stringify(input) }] : [start];
  }
}

function textParts(text: unknown): readonly StreamPart[] {
  return isText(text) ? [{ type: 'text', text }] : NOTHING;
}
