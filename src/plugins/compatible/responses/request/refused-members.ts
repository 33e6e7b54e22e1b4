import { is, type Members, type Refusals } from '../../shared/members.js';
import { SEND_ITEMS } from './input-items.js';

/** Members that would change the answer and that the service cannot honour, with what to send instead. */
const REFUSED: Refusals = {
  previous_response_id: { message: SEND_ITEMS },
  conversation: { message: SEND_ITEMS },
  prompt: { message: 'is not available, because the service stores no prompts: send instructions and input' },
  background: {
    unless: is(false),
    message: 'must be false, because the service stores no responses: send stream: true',
  },
  max_tool_calls: { message: 'is not available: send parallel_tool_calls: false for one call in each response' },
  top_logprobs: { unless: is(0), message: 'must be 0: the service returns no log probabilities' },
  logprobs: { unless: is(false), message: 'must be false: the service returns no log probabilities' },
  n: { unless: is(1), message: 'must be 1: the service generates one answer for each request' },
  audio: { message: 'is not available: the service answers with text' },
};

/** Members that ask for what the service does anyway. With another value they are ignored. */
const AS_USUAL: Readonly<Record<string, unknown>> = { store: false, truncation: 'disabled' };

/** @throws {ServiceError} `invalid_request` for a member that cannot be honoured. */
export function refuseUnsupported(body: Members): void {
  body.refuseUnsupported(REFUSED);
  for (const [index, entry] of (body.array('include') ?? []).entries()) {
    if (entry === 'message.output_text.logprobs') {
      throw body.refused(`include.${index}`, 'is not available: the service returns no log probabilities');
    }
  }
}

/** Names the members that have no effect. Call this when all other members were read. */
export function nameIgnored(body: Members, ignore: (member: string) => void): void {
  for (const [name, value] of Object.entries(AS_USUAL)) {
    if (![undefined, value].includes(body.any(name))) ignore(name);
  }
  // The encrypted reasoning is always part of the response, because the next turn needs it.
  if ((body.array('include') ?? []).some((entry) => entry !== 'reasoning.encrypted_content')) ignore('include');
  for (const name of body.rest()) ignore(name);
}
