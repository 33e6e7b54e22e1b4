import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../../src/chat/request/chat-request.dto.js';
import { tokenDemand, withinGrant } from '../../../../src/chat/request/token-demand.js';
import type { TierConfig } from '../../../../src/config/config.js';
import type { Lease } from '../../../../src/throttling/limit-store.js';
import { estimatePromptTokens } from '../../../../src/usage/record/token-estimate.js';

const MESSAGES = [{ role: 'user' as const, content: 'Hello, how are you today?' }];
const PROMPT = estimatePromptTokens({ messages: MESSAGES });
const FREE = { name: 'free' } as TierConfig;
const CAPPED: TierConfig = { ...FREE, maxTokens: 100 };
const requestWith = (parts: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'acme/fast',
  messages: MESSAGES,
  ...parts,
});

describe('the tokens that a request reserves', () => {
  it.each<[string, Partial<ChatRequest>, TierConfig, number, number]>([
    ['one token and a usual answer, without a limit', {}, FREE, 1, 1024],
    ['one token and the maximum of the tier', {}, CAPPED, 1, 100],
    ['what it asks for', { max_tokens: 50 }, CAPPED, 50, 50],
    ['what it asks for, up to the maximum of the tier', { max_tokens: 100 }, CAPPED, 100, 100],
    ['what it asks for, however much, without a maximum', { max_tokens: 1_000_000 }, FREE, 1_000_000, 1_000_000],
  ])('are its prompt and %s', (_, parts, tier, least, most) => {
    expect(tokenDemand(requestWith(parts), tier)).toEqual({ atLeast: PROMPT + least, atMost: PROMPT + most });
  });

  it('are none of a request for more than the tier allows, which is refused later', () => {
    expect(tokenDemand(requestWith({ max_tokens: 101 }), CAPPED)).toEqual({ atLeast: 0, atMost: 0 });
  });
});

describe('the token limit for the provider', () => {
  const leaseOf = (tokens: number | undefined) => ({ tokens }) as Lease;
  const within = (asked: number | undefined, granted: number, tier = CAPPED) =>
    withinGrant(asked, requestWith(asked === undefined ? {} : { max_tokens: asked }), tier, leaseOf(PROMPT + granted));

  it('is the one of the request without a quota', () => {
    expect(withinGrant(50, requestWith({ max_tokens: 50 }), CAPPED, undefined)).toBe(50);
    expect(withinGrant(50, requestWith({ max_tokens: 50 }), CAPPED, leaseOf(undefined))).toBe(50);
    expect(withinGrant(undefined, requestWith(), FREE, leaseOf(undefined))).toBeUndefined();
  });

  it('is the one of the request when all its tokens are granted', () => {
    expect([within(50, 50), within(undefined, 100), within(undefined, 1024, FREE)]).toEqual([50, undefined, undefined]);
  });

  it('is what is granted when that is less', () => {
    expect([within(50, 49), within(undefined, 99), within(undefined, 1023, FREE)]).toEqual([49, 99, 1023]);
  });

  it('is at least one token, where less was reserved than the prompt has', () => {
    expect([within(50, 0), within(undefined, -5), within(undefined, -5, FREE)]).toEqual([1, 1, 1]);
  });

  it('does not count what hooks have added to the prompt since', () => {
    const lengthened = requestWith({ messages: [...MESSAGES, ...MESSAGES] });
    expect(withinGrant(undefined, lengthened, CAPPED, leaseOf(PROMPT + 100), requestWith())).toBeUndefined();
    expect(withinGrant(undefined, lengthened, CAPPED, leaseOf(PROMPT + 99), requestWith())).toBe(99);
  });

  it('is never above the one that holds already', () => {
    expect(withinGrant(10, requestWith(), CAPPED, leaseOf(PROMPT + 99))).toBe(10);
  });
});
