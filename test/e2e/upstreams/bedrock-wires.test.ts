import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { anthropic, openAi, openAiResponses } from '../../../src/testing/provider/dialects.js';
import type { ProviderCall } from '../../../src/testing/provider/provider-call.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { IdentityServer } from '../../support/clouds/identity-server.js';
import { signatureProblem } from '../../support/clouds/sigv4-verifier.js';
import { startService, type RunningService } from '../../support/service.js';
import { stream } from '../../support/sse-client.js';
import { readWire } from '../../support/wire.js';

const REGION = 'eu-central-1';
const API_KEY = 'bedrock-api-key-1';
const signed = (service?: string) => ({ credentials: { kind: 'aws', region: REGION, ...(service && { service }) } });

/**
 * The interfaces of the vendors at Bedrock: "Messages API" and "Responses API" of its user guide, looked up on 2026-11-27. Each takes an
 * identity or an API key of Bedrock as a bearer token.
 */
const WIRES = [
  [
    'Messages',
    anthropic,
    '/anthropic',
    '/anthropic/v1/messages',
    'eu.anthropic.claude-haiku-4-5-20251001-v1:0',
    signed(),
  ],
  ['Chat Completions', openAi, '/openai/v1', '/openai/v1/chat/completions', 'openai.gpt-oss-120b-1:0', signed()],
  ['Responses', openAiResponses, '/openai/v1', '/openai/v1/responses', 'openai.gpt-5.6', signed()],
  [
    'Responses at bedrock-mantle',
    openAiResponses,
    '/v1',
    '/v1/responses',
    'openai.gpt-oss-120b',
    signed('bedrock-mantle'),
  ],
  [
    ...(['Messages with an API key', anthropic, '/anthropic', '/anthropic/v1/messages', 'claude'] as const),
    { headers: { Authorization: `Bearer ${API_KEY}` } },
  ],
  [
    ...([
      'Responses with an API key',
      openAiResponses,
      '/openai/v1',
      '/openai/v1/responses',
      'openai.gpt-5.6',
    ] as const),
    { api_key: API_KEY },
  ],
] as const;

let identity: IdentityServer;
/** The provider of each interface, in the order of `WIRES`. */
let providers: readonly ScriptedProvider[];
let service: RunningService;
let key: string;

beforeAll(async () => {
  identity = await IdentityServer.start();
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${identity.origin}/container`);
  providers = await Promise.all(WIRES.map(([, dialect]) => ScriptedProvider.start(dialect)));
  const upstreams = WIRES.map(([, { protocol }, base, , , authorization], index): [string, object] => [
    `bedrock-${index}`,
    { protocol, base_url: `${providers[index]?.origin}${base}`, ...authorization },
  ]);
  service = await startService({
    upstreams: Object.fromEntries(upstreams),
    models: WIRES.map(([, , , , model], index) => ({
      ...{ id: `acme/${index}`, name: 'Assistant', provider: 'Company', context_length: 200_000 },
      routes: [{ upstream: `bedrock-${index}`, model }],
    })),
  });
  ({ key } = await service.createKey());
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service.stop();
  await Promise.all([identity, ...providers].map((server) => server.stop()));
});

/** Returns what is wrong with the authorization of a request, as Bedrock checks it. */
function problemOf({ method, path, headers, body }: ProviderCall, authorization: object): string | undefined {
  if (!('credentials' in authorization)) {
    return headers.authorization === `Bearer ${API_KEY}` ? undefined : 'the API key is wrong';
  }
  const { service = 'bedrock' } = authorization.credentials as { readonly service?: string };
  const sessionToken = String(headers['x-amz-security-token']);
  if (!identity.isValid(sessionToken)) return 'the session token is unknown';
  const key = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret-of-aws', sessionToken, region: REGION, service };
  return signatureProblem({ method, path, headers, body }, key);
}

describe.each(WIRES)('Bedrock with its interface %s', (name, _dialect, _base, path, model, authorization) => {
  it('streams the turns of a conversation at chat/stream', async () => {
    const index = WIRES.findIndex((wire) => wire[0] === name);
    const provider = providers[index] as ScriptedProvider;
    const messages = [{ role: 'user', content: 'Grüße 👋, my name is Ada.' }];
    for (const texts of [
      ['Hello', ' Ada'],
      ['You said:', ' Ada 👋'],
    ]) {
      provider.next((call) => {
        const problem = problemOf(call, authorization);
        if (problem === undefined) call.answer(...texts);
        else
          call.refuse(403, { 'x-amzn-errortype': 'InvalidSignatureException' }, JSON.stringify({ message: problem }));
      });
      const { status, raw } = await stream(service.origin, { key, body: { model: `acme/${index}`, messages } });
      expect(status, raw).toBe(200);
      expect(readWire(raw)).toMatchObject({ text: texts.join(''), terminal: 'done' });
      messages.push({ role: 'assistant', content: texts.join('') }, { role: 'user', content: 'Who am I?' });
    }
    const sent = provider.calls.at(-1);
    expect([sent?.path, sent?.json.model, sent?.json.stream]).toEqual([path, model, true]);
    for (const text of ['my name is Ada', 'Hello Ada', 'Who am I?']) expect(sent?.body).toContain(text);
  });
});
