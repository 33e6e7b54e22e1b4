/** A piece of a block, as the format sends it. */
export type BlockDelta =
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

export type AnswerBlockStart =
  | ReturnType<typeof emptyText>
  | ReturnType<typeof emptyThinking>
  | ReturnType<typeof redactedThinking>
  | ReturnType<typeof emptyToolUse>;
