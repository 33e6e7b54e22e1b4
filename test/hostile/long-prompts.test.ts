import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, routesTo } from '../support/catalog.js';
import { openStream, stream } from '../support/sse-client.js';
import { Target } from './support/target.js';

/** Each is one token for o200k and for Llama 3. */
const CHARACTERS = 190_000;
const PREFIXES = {
  nothing: '',
  spaces: ' '.repeat(2_048),
  'line ends': '\n'.repeat(4_096),
  'letters of one word': 'x'.repeat(2_048),
  'many short words': 'a '.repeat(4_096),
  'zero-width characters': '\u200b'.repeat(2_048),
};
const TOKENS_PER_DAY = 1_000_000;

describe('a prompt of 190,000 characters', () => {
  let target: Target;
  beforeAll(async () => {
    target = await Target.start({
      tiers: { free: { tokens_per_day: TOKENS_PER_DAY } },
      catalog: (provider) => {
        const { upstreams, models } = routesTo([provider]);
        return { upstreams, models: models.map((model) => ({ ...model, context_length: 1_000_000 })) };
      },
    });
  });
  afterAll(() => target.stop());

  it.each(Object.entries(PREFIXES))('behind %s counts as it is, if each client leaves', async (name, prefix) => {
    const key = await target.createKey(`${name.replaceAll(' ', '-')}@example.com`);
    const messages = [{ role: 'user', content: prefix + '漢'.repeat(CHARACTERS) }];
    const counted = await fetch(`${target.origin}/api/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: MODEL, messages }),
    });
    const { input_tokens: tokens } = (await counted.json()) as { input_tokens: number };
    expect(tokens).toBeGreaterThan(0.9 * CHARACTERS);
    let admitted = 0;
    const health = await target.healthDuring(async () => {
      for (let request = 0; request < 10; request += 1) {
        const answer = await openStream(target.origin, { key, body: { messages, max_tokens: 10 } });
        if (answer.status !== 200) continue;
        admitted += 1;
        await answer.block(1);
        answer.leave();
      }
    });
    expect(admitted).toBeGreaterThan(0);
    expect(admitted * 0.9 * CHARACTERS).toBeLessThanOrEqual(TOKENS_PER_DAY);
    expect(health.failed).toBe(0);
  });

  it('costs about as much CPU as its bytes cost', async () => {
    const key = await target.createKey('bytes@example.com');
    const body = (content: string) => ({ messages: [{ role: 'user', content }], max_tokens: 1 });
    const cpuMs = await target.cpuMsDuring(async () => {
      for (const prefix of Object.values(PREFIXES).slice(0, 3)) {
        await stream(target.origin, { key, body: body(prefix + '漢'.repeat(CHARACTERS)) });
      }
    });
    // About 15 ms each were measured, half of it for the JSON.
    expect(cpuMs / 3).toBeLessThan(120);
  });
});
