import { describe, expect, it } from 'vitest';
import { requestedOptions } from '../../../../src/chat/request/requested-contents.js';

describe('the options of a request', () => {
  it('are those that it has, and nothing else of it', () => {
    const request = { model: 'acme/fast', messages: [], max_tokens: 5, temperature: 0, seed: 7, stop: undefined };
    expect(requestedOptions(request)).toStrictEqual({ temperature: 0, seed: 7 });
  });

  it('have the default temperature unless the request has a temperature or top_p', () => {
    expect(requestedOptions({ seed: 7 })).toStrictEqual({ seed: 7, temperature: 0.7 });
    expect(requestedOptions({ top_p: 0.5 })).toStrictEqual({ top_p: 0.5 });
  });
});
