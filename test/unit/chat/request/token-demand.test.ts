import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../../src/chat/request/chat-request.dto.js';
import { tokenDemand, withinGrant } from '../../../../src/chat/request/token-demand.js';
import type { TierConfig } from '../../../../src/platform/config/config.js';
import { promptTokensNow } from '../../../../src/upstreams/tokens/prompt-tokens.js';

const MESSAGES = [{ role: 'user' as const, content: 'Hello, how are you today?' }];
const PROMPT = promptTokensNow({ messages: MESSAGES }).atMost;
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
    const demand = { atLeast: PROMPT + least, atMost: PROMPT + most, prompt: PROMPT };
    expect(tokenDemand(requestWith(parts), tier)).toEqual(demand);
  });

  it('are a tenth of the smallest limit for an answer without a limit, if that is more', () => {
    expect(tokenDemand(requestWith(), FREE, 50_000)).toMatchObject({ atLeast: PROMPT + 1, atMost: PROMPT + 5_000 });
    expect(tokenDemand(requestWith(), FREE, 5_000)).toMatchObject({ atMost: PROMPT + 1_024 });
  });

  it('are none of a request for more than the tier allows, which is refused later', () => {
    expect(tokenDemand(requestWith({ max_tokens: 101 }), CAPPED)).toEqual({ atLeast: 0, atMost: 0 });
  });

  it('are those of the whole prompt, which takes several turns if it is long', async () => {
    const messages = [{ role: 'user' as const, content: 'One more word. '.repeat(50_000) }];
    const demand = tokenDemand(requestWith({ messages, max_tokens: 1 }), FREE);
    expect(demand).toBeInstanceOf(Promise);
    expect((await demand).atLeast).toBe(promptTokensNow({ messages }).atMost + 1);
  });
});

describe('the token limit for the provider', () => {
  it('is the one that holds already, without a quota or with enough of it', () => {
    expect([withinGrant(50, undefined, PROMPT), withinGrant(undefined, undefined, PROMPT)]).toEqual([50, undefined]);
    expect([withinGrant(50, PROMPT + 50, PROMPT), withinGrant(10, PROMPT + 99, PROMPT)]).toEqual([50, 10]);
  });

  it('is what is granted when that is less', () => {
    expect([withinGrant(50, PROMPT + 49, PROMPT), withinGrant(undefined, PROMPT + 99, PROMPT)]).toEqual([49, 99]);
  });

  it('is at least one token, where less was reserved than the prompt has', () => {
    expect([withinGrant(50, PROMPT, PROMPT), withinGrant(undefined, 5, PROMPT)]).toEqual([1, 1]);
  });
});
