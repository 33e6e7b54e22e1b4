import type { ReasoningOptions } from '../../../upstreams/contract/conversation.js';
import type { Members } from './members.js';

export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Reads an effort of reasoning. `max` has the effect of `xhigh`. @throws {ServiceError} `invalid_request`. */
export function effortOf(members: Members, name: string): ReasoningOptions['effort'] {
  const effort = members.oneOf(name, EFFORTS);
  return effort === 'max' ? 'xhigh' : effort;
}
