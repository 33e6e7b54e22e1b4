import type { CompletionPart, ReasoningPart } from '../../../../plugin-api/core/upstreams.js';
import type { ShownThinking } from '../body/messages-request.js';

/** A piece of a block, as the format sends it. */
type BlockDelta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string };

/** A block without its pieces, as `content_block_start` has it. A whole message has the same members, with the pieces. */
export const emptyText = () => ({ type: 'text' as const, text: '', citations: [] });
export const emptyThinking = () => ({ type: 'thinking' as const, thinking: '', signature: '' });
export const redactedThinking = (data: string) => ({ type: 'redacted_thinking' as const, data });

/** @param signature the proof of the provider. Anthropic has no such member; clients send it back with the block. */
export const emptyToolUse = (id: string, name: string, signature?: string) => ({
  type: 'tool_use' as const,
  id,
  name,
  input: {},
  caller: { type: 'direct' as const },
  ...(signature !== undefined && { signature }),
});

type AnswerBlockStart =
  | ReturnType<typeof emptyText>
  | ReturnType<typeof emptyThinking>
  | ReturnType<typeof redactedThinking>
  | ReturnType<typeof emptyToolUse>;

/** An event of a block, with the position of the block. */
type BlockEvent =
  | { readonly type: 'content_block_start'; readonly index: number; readonly content_block: AnswerBlockStart }
  | { readonly type: 'content_block_delta'; readonly index: number; readonly delta: BlockDelta }
  | { readonly type: 'content_block_stop'; readonly index: number };

interface Block {
  readonly start: AnswerBlockStart;
  /** The id of the tool call of the block. */
  readonly callId?: string;
  /** The pieces that are not sent yet. */
  pending: BlockDelta[];
  isStarted: boolean;
  isOver: boolean;
}

/**
 * Divides an answer into blocks. One block is open at a time, because clients append each piece to the last block. What belongs
 * to a later block waits until the block before it is over: some providers end all tool calls at the end of the answer.
 */
export class AnswerBlocks {
  /** The block that is open, and those that wait for its end. */
  private blocks: Block[] = [];
  private index = 0;

  constructor(private readonly thinking: ShownThinking) {}

  /** Returns the events that the part brings. */
  add(part: CompletionPart): BlockEvent[] {
    switch (part.type) {
      case 'text':
        this.piece('text', { type: 'text_delta', text: part.text });
        break;
      case 'reasoning':
        this.addReasoning(part);
        break;
      case 'tool_call_start':
        this.open(emptyToolUse(part.id, part.name, part.signature), part.id);
        break;
      case 'tool_call_delta':
        this.call(part.id)?.pending.push({ type: 'input_json_delta', partial_json: part.json });
        break;
      case 'tool_call_end': {
        const call = this.call(part.id);
        if (call !== undefined) call.isOver = true;
        break;
      }
      case 'usage':
      case 'finish':
        return [];
    }
    return [...this.events()];
  }

  /** Returns the last events. Call this only for a complete answer. */
  end(): BlockEvent[] {
    for (const block of this.blocks) block.isOver = true;
    return [...this.events()];
  }

  private addReasoning({ text, signature, encrypted }: ReasoningPart): void {
    // Text after hidden thinking is a block of its own, as in a whole message.
    if (this.blocks.at(-1)?.start.type === 'text') this.closeLast();
    if (this.thinking === 'none') return;
    if (text !== '' && this.thinking === 'shown') this.piece('thinking', { type: 'thinking_delta', thinking: text });
    if (signature !== undefined) this.piece('thinking', { type: 'signature_delta', signature });
    if (encrypted !== undefined) this.open(redactedThinking(encrypted));
    // A proof ends its block.
    if (signature !== undefined || encrypted !== undefined) this.closeLast();
  }

  private piece(type: 'text' | 'thinking', delta: BlockDelta): void {
    const last = this.blocks.at(-1);
    const block =
      last?.start.type === type && !last.isOver ? last : this.open(type === 'text' ? emptyText() : emptyThinking());
    block.pending.push(delta);
  }

  private open(start: AnswerBlockStart, callId?: string): Block {
    this.closeLast();
    const block: Block = {
      start,
      pending: [],
      isStarted: false,
      isOver: false,
      ...(callId !== undefined && { callId }),
    };
    this.blocks.push(block);
    return block;
  }

  /** Ends the last block, unless it is a tool call, which has an end of its own. */
  private closeLast(): void {
    const last = this.blocks.at(-1);
    if (last !== undefined && last.callId === undefined) last.isOver = true;
  }

  private call(id: string): Block | undefined {
    return this.blocks.find(({ callId }) => callId === id);
  }

  private *events(): Generator<BlockEvent, void> {
    for (let block = this.blocks[0]; block !== undefined; block = this.blocks[0]) {
      const { index } = this;
      if (!block.isStarted) yield { type: 'content_block_start', index, content_block: block.start };
      block.isStarted = true;
      for (const delta of joined(block.pending)) yield { type: 'content_block_delta', index, delta };
      block.pending = [];
      if (!block.isOver) return;
      yield { type: 'content_block_stop', index };
      this.blocks.shift();
      this.index += 1;
    }
  }
}

/** Joins the arguments of a tool call that has waited. Other pieces stay as they arrived. */
function joined(deltas: readonly BlockDelta[]): readonly BlockDelta[] {
  const [first, second] = deltas;
  if (second === undefined || first?.type !== 'input_json_delta') return deltas;
  const json = deltas.map((delta) => (delta.type === 'input_json_delta' ? delta.partial_json : '')).join('');
  return [{ type: 'input_json_delta', partial_json: json }];
}
