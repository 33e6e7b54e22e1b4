import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anthropic, gemini, ollama, openAi, openAiResponses } from '../../src/testing/provider/dialects.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { MODEL, routesTo } from '../support/catalog.js';
import { startService, type RunningService } from '../support/service.js';

/** Twice the length from which a request is made in steps. */
const LONG = '日"\\n😀x'.repeat(350_000);
const SCHEMA =
  '{"type":"object","properties":{"id":{"type":"integer","maximum":9223372036854775807,"multipleOf":1.0}}}';
const ARGUMENTS = '{"id":2512292042121000001}';

describe.each([openAi, openAiResponses, anthropic, gemini, ollama])(
  'a long conversation for a provider of $protocol',
  (dialect) => {
    let provider: ScriptedProvider;
    let service: RunningService;
    let key: string;

    beforeAll(async () => {
      provider = await ScriptedProvider.start(dialect);
      const { upstreams, models } = routesTo([provider]);
      // Only long prompts are marked for the prompt cache.
      const options = dialect === anthropic ? { prompt_caching: false } : {};
      service = await startService({
        upstreams: { acme: { ...upstreams['acme'], options } },
        models: models.map((model) => ({ ...model, context_length: 100_000_000 })),
      });
      ({ key } = await service.createKey());
    });
    afterAll(async () => {
      await service.stop();
      await provider.stop();
    });

    const ask = async (content: unknown): Promise<string> => {
      provider.answers((call) => {
        call.answer('Hello');
      });
      const response = await fetch(`${service.origin}/api/v1/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: `{"model":"${MODEL}","max_tokens":100,"tools":[{"name":"read","input_schema":${SCHEMA}}],"messages":[
          {"role":"user","content":${JSON.stringify(content)}},
          {"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"read","input":${ARGUMENTS}}]},
          {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"ok"}]}]}`,
      });
      expect(await response.text()).toContain('Hello');
      return provider.calls.at(-1)?.body ?? '';
    };

    it('is the same request as for a short one', async () => {
      const [short, long] = [await ask('short'), await ask(LONG)];
      expect(short).toContain(SCHEMA);
      expect(short.includes(ARGUMENTS) || short.includes(JSON.stringify(ARGUMENTS))).toBe(true);
      expect(long === short.replace('"short"', () => JSON.stringify(LONG))).toBe(true);
    });

    it('is the same request as for a short one if it has many texts', async () => {
      const blocks = (texts: readonly string[]) => texts.map((text) => ({ type: 'text', text }));
      const texts = Array.from({ length: 900 }, (_, index) => `${index}${LONG.slice(0, 4_000)}`);
      const [short, long] = [await ask(blocks(['first', 'last'])), await ask(blocks(texts))];
      // Between them is a line end in one text, or the next item of a list.
      const [begin = '', between = '', end = ''] = short.split(/first|last/);
      const written = texts.map((text) => JSON.stringify(text).slice(1, -1));
      expect(long === `${begin}${written.join(between)}${end}`).toBe(true);
    });
  },
);
