import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.js';

describe('the built-in catalog', () => {
  it('serves the stand-in alone when no provider is configured', () => {
    expect(loadConfig({}).models.map(({ id }) => id)).toEqual(['builtin/eliza']);
  });

  it('requests the provider first and OpenRouter after it', () => {
    const { models } = loadConfig({ ANTHROPIC_API_KEY: 'a', OPENROUTER_API_KEY: 'b' });
    const opus = models.find(({ id }) => id === 'anthropic/claude-opus-5.5');
    expect(opus?.routes.map(({ upstream, model }) => [upstream.name, model])).toEqual([
      ['anthropic', 'claude-opus-5-5'],
      ['openrouter', 'anthropic/claude-opus-5.5'],
    ]);
  });

  it('puts a real model before the stand-in as soon as there is one', () => {
    const { models } = loadConfig({ OLLAMA_BASE_URL: 'http://127.0.0.1:11434' });
    expect(models.at(0)?.id).toMatch(/^ollama\//);
    expect(models.at(-1)?.id).toBe('builtin/eliza');
  });

  it('never lets an answer be longer than the context', () => {
    const keys = ['OPENAI', 'ANTHROPIC', 'GEMINI', 'XAI', 'MISTRAL', 'DEEPSEEK', 'GROQ', 'OPENROUTER'];
    const { models } = loadConfig(Object.fromEntries(keys.map((provider) => [`${provider}_API_KEY`, 'k'])));
    expect(models.length).toBeGreaterThan(25);
    for (const { id, contextLength, maxOutputTokens = 0 } of models) {
      expect(maxOutputTokens, id).toBeLessThanOrEqual(contextLength);
    }
  });
});
