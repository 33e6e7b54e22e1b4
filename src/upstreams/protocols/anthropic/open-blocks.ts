import { jsonSource } from '../../../platform/common/json/json-source.js';
import { providerFailure } from '../../contract/provider-failure.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { NOTHING, PROGRESS } from '../shared/event-parts.js';
import { JsonEnd, newToolCallId } from '../shared/tool-calls.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';

interface CallBlock {
  readonly type: 'call';
  readonly id: string;
  /** The input that the start of the call has brought. The deltas repeat it, or there are none. */
  input: string;
  readonly end: JsonEnd;
}

/** `other`: a block that the service does not read, such as a tool that runs at the provider. `ended`: a call that has ended. */
type Block =
  CallBlock | { readonly type: 'reasoning'; signature: string } | { readonly type: 'text' | 'other' | 'ended' };

const TEXT: Block = { type: 'text' };
const OTHER: Block = { type: 'other' };
const ENDED: Block = { type: 'ended' };

/**
 * The blocks of one message. A piece of the input of a tool call belongs to the call with its index, or otherwise to the only call that
 * can take it. A piece that belongs to no call, or may belong to several, is a failure.
 */
export class OpenBlocks {
  private readonly blocks = new Map<unknown, Block>();

  start({ index, content_block: block }: JsonObject): readonly StreamPart[] {
    if (!isJsonObject(block)) return NOTHING;
    const before = this.blocks.get(index);
    const ends = before?.type === 'call' ? this.endReplaced(before) : NOTHING;
    const parts = this.startBlock(index, block);
    return ends.length === 0 ? parts : [...ends, ...parts];
  }

  /** All deltas that the service does not know (citations) are only signs of progress. */
  add({ index, delta }: JsonObject): readonly StreamPart[] {
    if (!isJsonObject(delta)) return NOTHING;
    const block = this.blocks.get(index);
    switch (delta.type) {
      case 'text_delta':
        // Converse sends no start of a text.
        if (block === undefined) this.blocks.set(index, TEXT);
        return textParts(delta.text);
      case 'thinking_delta':
        return isText(delta.thinking) ? [{ type: 'reasoning', text: delta.thinking }] : PROGRESS;
      case 'signature_delta':
        if (block?.type === 'reasoning' && isText(delta.signature)) block.signature += delta.signature;
        return PROGRESS;
      case 'input_json_delta':
        return this.addInput(block, delta.partial_json);
      default:
        return PROGRESS;
    }
  }

  stop({ index }: JsonObject): readonly StreamPart[] {
    const block = this.blocks.get(index) ?? this.onlyCall();
    if (block?.type === 'call') return this.endCall(block);
    if (block?.type !== 'reasoning' || block.signature === '') return NOTHING;
    this.blocks.set(index, TEXT);
    return [{ type: 'reasoning', text: '', signature: block.signature }];
  }

  /** Returns the ends of calls with a whole input, when the provider says that the message ends with calls. */
  finish(): readonly StreamPart[] {
    return this.calls()
      .filter((call) => isWhole(call))
      .flatMap((call) => this.endCall(call));
  }

  private startBlock(index: unknown, block: JsonObject): readonly StreamPart[] {
    switch (block.type) {
      case 'text':
        this.blocks.set(index, TEXT);
        return textParts(block.text);
      case 'thinking':
        this.blocks.set(index, { type: 'reasoning', signature: isText(block.signature) ? block.signature : '' });
        return isText(block.thinking) ? [{ type: 'reasoning', text: block.thinking }] : PROGRESS;
      case 'redacted_thinking':
        this.blocks.set(index, OTHER);
        if (!isText(block.data)) return PROGRESS;
        return [{ type: 'reasoning', text: '', encrypted: block.data }];
      case 'tool_use':
        return this.startCall(index, block);
      default:
        this.blocks.set(index, OTHER);
        return PROGRESS;
    }
  }

  private startCall(index: unknown, { id, name, input }: JsonObject): readonly StreamPart[] {
    const call = isText(id) ? id : newToolCallId();
    const isFilled = isText(input) || (isJsonObject(input) && Object.keys(input).length > 0);
    this.blocks.set(index, {
      ...{ type: 'call', id: call, input: isFilled ? textOf(input) : '', end: new JsonEnd() },
    });
    return [{ type: 'tool_call_start', id: call, name: isText(name) ? name : '', index: 0 }];
  }

  private addInput(block: Block | undefined, piece: unknown): readonly StreamPart[] {
    const json = textOf(piece);
    if (json === '' || block?.type === 'other') return PROGRESS;
    const isBlank = json.trim() === '';
    const call = block?.type === 'call' || block?.type === 'ended' ? block : this.onlyCall();
    if (call?.type !== 'call' || call.end.isReached)
      return isBlank ? PROGRESS : failed('A piece of a tool call belongs to no call.');
    if (isBlank && call.input !== '') return PROGRESS;
    call.input = '';
    call.end.read(json);
    return [{ type: 'tool_call_delta', id: call.id, json }];
  }

  /** Ends a call whose index another block takes. It is complete only with a whole input. */
  private endReplaced(call: CallBlock): readonly StreamPart[] {
    return isWhole(call) ? this.endCall(call) : failed('Two open blocks have the same index.');
  }

  private endCall(call: CallBlock): readonly StreamPart[] {
    for (const [index, block] of this.blocks) if (block === call) this.blocks.set(index, ENDED);
    const end: StreamPart = { type: 'tool_call_end', id: call.id };
    return call.input === '' ? [end] : [{ type: 'tool_call_delta', id: call.id, json: call.input }, end];
  }

  /** Returns the open call that can take more input, if there is only one. */
  private onlyCall(): CallBlock | undefined {
    const open = this.calls().filter(({ end }) => !end.isReached);
    return open.length === 1 ? open[0] : undefined;
  }

  private calls(): readonly CallBlock[] {
    return [...this.blocks.values()].filter((block) => block.type === 'call');
  }
}

function isWhole({ input, end }: CallBlock): boolean {
  return end.isReached || input !== '';
}

function textOf(json: unknown): string {
  if (typeof json === 'object' && json !== null) return jsonSource(json);
  return isText(json) ? json : '';
}

function failed(reason: string): readonly StreamPart[] {
  return [{ type: 'error', error: providerFailure('upstream_error', reason) }];
}

function textParts(text: unknown): readonly StreamPart[] {
  return isText(text) ? [{ type: 'text', text }] : NOTHING;
}
