import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, routesTo } from '../support/catalog.js';
import { HonestStreams } from './support/honest-streams.js';
import { Target } from './support/target.js';

const MIB = 1024 * 1024;
const BODY_BYTES = 32 * MIB;
const PACED_MODEL = 'acme/paced';
/** Far above what it takes on an idle machine (below 60 ms), and what a busy one makes of it. */
const LATEST_CHUNK_MS = 5_000;
/** The share of one account, its values, and the copy for the provider. */
const MAX_MORE_MIB = 600;

const question = { role: 'user', content: 'Hello!' };
const schema = (length: number) => ({
  type: 'object',
  properties: { a: { description: 'd'.repeat(length), minimum: 1.5 } },
});
/** Bodies that are long in different ways. The last one is made of arguments, whose texts are kept. */
const BODIES: Readonly<Record<string, readonly [path: string, body: object]>> = {
  'one text': ['chat/completions', { messages: [{ ...question, content: 'lorem ipsum '.repeat(2.6 * MIB) }] }],
  'a text of escapes': ['messages', { messages: [{ ...question, content: '\n"'.repeat(7.9 * MIB) }] }],
  'many messages': [
    'responses',
    { input: Array.from({ length: 9_999 }, () => ({ ...question, content: 'word '.repeat(650) })) },
  ],
  'many tools': [
    'chat/completions',
    {
      messages: [question],
      tools: Array.from({ length: 500 }, (_, index) => ({
        type: 'function',
        function: { name: `tool_${index}`, parameters: schema(60_000) },
      })),
    },
  ],
  'many arguments': [
    'messages',
    {
      tools: [{ name: 'write', input_schema: { type: 'object' } }],
      messages: Array.from({ length: 1_000 }, (_, index) => [
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: `t${index}`, name: 'write', input: { n: 2.5, text: 'code '.repeat(6_400) } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${index}`, content: 'ok' }] },
      ]).flat(),
    },
  ],
};

describe('bodies of 32 MiB next to honest streams', () => {
  let honest: HonestStreams;
  let target: Target;
  let key: string;

  beforeAll(async () => {
    honest = await HonestStreams.start();
    target = await Target.start({
      tiers: { free: { requests_per_minute: 10_000, concurrent_streams: 50 } },
      catalog: (provider) => {
        const { upstreams, models } = routesTo([provider]);
        const [model] = models;
        const paced = { protocol: 'openai', base_url: `${honest.providerOrigin}/v1`, api_key: 'secret-of-paced' };
        return {
          upstreams: { ...upstreams, paced },
          models: [
            { ...model, context_length: 100_000_000 },
            { ...model, id: PACED_MODEL, routes: [{ upstream: 'paced', model: 'paced' }] },
          ],
        };
      },
    });
    key = await target.createKey('large@example.com');
    honest.open(target.origin, await target.createKey('honest@example.com'), PACED_MODEL);
  });
  afterAll(async () => {
    await target.stop();
    await honest.stop();
  });

  it.each(Object.entries(BODIES))('delay no chunk and are answered: %s', async (_, [path, body]) => {
    const json = JSON.stringify({ model: MODEL, max_tokens: 10, ...body });
    expect(json.length).toBeLessThan(BODY_BYTES);
    expect(json.length).toBeGreaterThan(0.85 * BODY_BYTES);
    const restMiB = await target.residentMiB();
    await honest.report();

    const answers = await Promise.all(
      [1, 2, 3].map(() =>
        fetch(`${target.origin}/api/v1/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
          body: json,
        }).then(async (response) => [response.status, response.status === 200 ? '' : await response.text()]),
      ),
    );

    const { latestMs, chunks, failures } = await honest.report();
    expect(failures).toEqual([]);
    expect(chunks).toBeGreaterThan(0);
    expect(latestMs).toBeLessThan(LATEST_CHUNK_MS);
    expect((await target.residentMiB()) - restMiB).toBeLessThan(MAX_MORE_MIB);
    // The share of the account may have no room for all of them.
    expect(answers).toContainEqual([200, '']);
    expect(answers.filter(([status]) => ![200, 429, 503].includes(Number(status)))).toEqual([]);
  });
});
