import type { UpstreamConfig } from '../../config/config.js';

/** The names of the GenAI conventions by the host of the provider. */
const BY_HOST: readonly (readonly [host: RegExp, name: string])[] = [
  [/(?:^|\.)api\.openai\.com$/, 'openai'],
  [/\.openai\.azure\.com$/, 'azure.ai.openai'],
  [/\.(?:inference|services|models)\.ai\.azure\.com$/, 'azure.ai.inference'],
  [/(?:^|\.)anthropic\.com$/, 'anthropic'],
  [/^generativelanguage\.googleapis\.com$/, 'gcp.gemini'],
  [/aiplatform\.googleapis\.com$/, 'gcp.vertex_ai'],
  [/(?:^|\.)x\.ai$/, 'x_ai'],
  [/(?:^|\.)mistral\.ai$/, 'mistral_ai'],
  [/(?:^|\.)deepseek\.com$/, 'deepseek'],
  [/(?:^|\.)groq\.com$/, 'groq'],
  [/(?:^|\.)perplexity\.ai$/, 'perplexity'],
  [/(?:^|\.)cohere\.(?:com|ai)$/, 'cohere'],
  [/^bedrock.*\.amazonaws\.com$/, 'aws.bedrock'],
];

/** The names of the GenAI conventions for the upstreams of the built-in catalog, which may be reached through a proxy. */
const BY_UPSTREAM: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  xai: 'x_ai',
  mistral: 'mistral_ai',
  deepseek: 'deepseek',
  groq: 'groq',
  azure: 'azure.ai.openai',
};

/** The names by protocol. The conventions use the name of the interface if the provider behind it is not known. */
const BY_PROTOCOL: Readonly<Record<string, string>> = { gemini: 'gcp.gemini' };

/** Returns the value of `gen_ai.provider.name` for an upstream, by the conventions of OpenTelemetry for generative AI. */
export function providerNameOf({ name, protocol, baseUrl }: UpstreamConfig): string {
  const host = baseUrl?.hostname ?? '';
  const known = BY_HOST.find(([pattern]) => pattern.test(host))?.[1];
  return known ?? BY_UPSTREAM[name] ?? BY_PROTOCOL[protocol] ?? protocol;
}
