import { describe, expect, it } from 'vitest';
import type { UpstreamConfig } from '../../../../src/config/config.js';
import { providerNameOf } from '../../../../src/observability/tracing/provider-name.js';

describe('the provider name of a span', () => {
  it.each([
    ['https://api.openai.com/v1', 'openai', 'openai'],
    ['https://our-resource.openai.azure.com/openai/v1', 'openai', 'azure.ai.openai'],
    ['https://our-project.services.ai.azure.com', 'openai', 'azure.ai.inference'],
    ['https://api.anthropic.com', 'anthropic', 'anthropic'],
    ['https://generativelanguage.googleapis.com/v1beta/openai', 'openai', 'gcp.gemini'],
    ['https://europe-west4-aiplatform.googleapis.com', 'gemini', 'gcp.vertex_ai'],
    ['https://api.x.ai/v1', 'openai', 'x_ai'],
    ['https://api.mistral.ai/v1', 'openai', 'mistral_ai'],
    ['https://api.deepseek.com', 'openai', 'deepseek'],
    ['https://api.groq.com/openai/v1', 'openai', 'groq'],
    ['https://bedrock-runtime.eu-west-1.amazonaws.com', 'openai', 'aws.bedrock'],
    ['https://not-openai.com', 'anthropic', 'anthropic'],
    ['http://127.0.0.1:8000/v1', 'openai', 'openai'],
    ['http://127.0.0.1:8000', 'gemini', 'gcp.gemini'],
    ['http://127.0.0.1:11434', 'ollama', 'ollama'],
    [undefined, 'builtin', 'builtin'],
  ])('of %s with the protocol %s is %s', (url, protocol, expected) => {
    expect(providerNameOf(upstream('ours', protocol, url))).toBe(expected);
  });

  it('of an upstream of the built-in catalog stays the same behind a proxy', () => {
    expect(providerNameOf(upstream('mistral', 'openai', 'http://proxy.internal/v1'))).toBe('mistral_ai');
  });
});

function upstream(name: string, protocol: string, url: string | undefined): UpstreamConfig {
  return { name, protocol, baseUrl: url === undefined ? undefined : new URL(url) } as UpstreamConfig;
}
