import { expect } from 'vitest';
import { stream } from '../support/sse-client.js';
import type { ProviderCall } from '../../src/testing/provider/provider-call.js';
import { serving, type Effect, type Serving } from './effect.js';
const COUNT = 'expected number to be >=1';
const TEXT = 'expected string to have >=1 characters';

/** Facts are for people and for `npm run catalog`: the service does not use them. */
export function factsOf(group: string): Readonly<Record<string, Effect>> {
  return {
    [`${group}.facts[].of`]: { refused: [[[], 'expected array to have >=1 items']] },
    [`${group}.facts[].source`]: { refused: [['', TEXT]] },
    [`${group}.facts[].checked`]: { refused: [['yesterday', 'Invalid ISO date']] },
  };
}

/** Members of an upstream and of a route: what they change is seen by the provider. */
export const upstreamMembers: Readonly<Record<string, Effect>> = {
  'upstreams.<name>.protocol': {
    refused: [
      ['', TEXT],
      [undefined, 'expected string'],
    ],
  },
  'upstreams.<name>.base_url': {
    refused: [
      ['ftp://provider', 'must start with http:// or https://'],
      ['http://[', 'must be a valid URL'],
    ],
  },
  'upstreams.<name>.api_key': {
    refused: [
      ['', TEXT],
      ['a\nb', 'contains a character that is not allowed in a header'],
    ],
  },
  'upstreams.<name>.credentials.kind': {
    refused: [['', TEXT]],
  },
  'upstreams.<name>.headers': {
    refused: [[['x-team'], 'expected record']],
  },
  'upstreams.<name>.timeouts.connect_ms': {
    refused: [[0, COUNT]],
  },
  'upstreams.<name>.timeouts.first_token_ms': {
    refused: [[86_400_001, 'expected number to be <=86400000']],
  },
  'upstreams.<name>.timeouts.idle_ms': {
    refused: [[1.5, 'expected int']],
  },
  'upstreams.<name>.options': {
    refused: [[['prompt_caching'], 'expected record']],
  },
  'upstreams.<name>.max_tokens_field': {
    refused: [['tokens', 'expected one of "max_tokens"|"max_completion_tokens"']],
  },
  'upstreams.<name>.include_usage': {
    refused: [['yes', 'expected boolean']],
  },
  ...factsOf('upstreams.<name>'),
  'upstreams.<name>.provider_messages': {
    refused: [['all', 'expected one of "shown"|"hidden"']],
  },
  'upstreams.<name>.max_event_bytes': {
    refused: [
      [4095, 'expected number to be >=4096'],
      [16_777_217, 'expected number to be <=16777216'],
    ],
  },
  'models[].routes[].upstream': {
    refused: [
      ['nobody', '"nobody" is not one of the upstreams'],
      [undefined, 'expected string'],
    ],
  },
  'models[].routes[].model': {
    refused: [[undefined, 'expected string']],
  },
  'models[].routes[].priority': {
    refused: [
      [0, COUNT],
      [1001, 'expected number to be <=1000'],
      [1.5, 'expected int'],
    ],
  },
  'models[].routes[].weight': {
    refused: [
      [0, 'expected number to be >=0.001'],
      [1001, 'expected number to be <=1000'],
    ],
  },
  'models[].routes[].unsupported_options': {
    refused: [['temperature', 'expected array']],
  },
  'models[].routes[].temperature': {
    refused: [[0.7, 'expected boolean']],
  },
};

/** What the provider gets with a request, of 7 tokens at most by default. */
export async function sent(
  options: Serving,
  look: (call: ProviderCall) => unknown,
  expected: unknown,
  body: object = { max_tokens: 7 },
): Promise<void> {
  await serving(options, async ({ origin, key, provider }) => {
    await stream(origin, { key, body });
    expect(look(await provider.call(1))).toEqual(expected);
  });
}
