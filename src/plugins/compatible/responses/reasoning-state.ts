import { z } from 'zod';
import type { SentBody } from '../shared/checked-body.js';

/**
 * What `encrypted_content` of a reasoning item carries, so that the next turn has it again. Clients send the member back as it
 * is, but some drop the text of the reasoning, and a function call has no member for a signature.
 */
export interface ReasoningState {
  readonly text?: string | undefined;
  readonly signature?: string | undefined;
  readonly encrypted?: string | undefined;
  /** The id of the call to which the signature belongs. Without it, the signature belongs to the reasoning. */
  readonly call?: string | undefined;
}

/** Distinguishes the state from the encrypted content of another service. */
const PREFIX = 'rs1.';

const State = z.object({
  text: z.string().optional(),
  signature: z.string().optional(),
  encrypted: z.string().optional(),
  call: z.string().optional(),
});

export function encodeState(state: ReasoningState): string {
  return PREFIX + Buffer.from(JSON.stringify(state)).toString('base64url');
}

/** Content of another form comes from a provider: see {@link providerState}. */
export function decodeState(content: string): ReasoningState {
  if (!content.startsWith(PREFIX)) return { encrypted: content };
  try {
    return State.parse(JSON.parse(Buffer.from(content.slice(PREFIX.length), 'base64url').toString()));
  } catch {
    return { encrypted: content };
  }
}

/** The protocol whose providers have reasoning items in the form of this surface. */
const SAME_FORM = 'openai-responses';

/**
 * Returns the state for an item with the content of a provider, which the client has from elsewhere. It goes on as it is.
 *
 * @param id the id of the item.
 */
export function providerState(encrypted_content: string, id: string | undefined, item: SentBody): string {
  const summary = item['summary'] ?? [];
  const content = item['content'] ?? undefined;
  return `${SAME_FORM}:${JSON.stringify({ id, type: 'reasoning', encrypted_content, summary, content })}`;
}
