import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Inject, Injectable } from '@nestjs/common';
import { afterEach, describe, expect, it } from 'vitest';
import { ChatClient } from '../../src/client.js';
import { CLOCK, type Clock } from '../../src/platform/common/clock.js';
import { ConfigError } from '../../src/platform/config/config-error.js';
import { ChatPlugin } from '../../src/plugin-api/chat-plugin.decorator.js';
import { configFor, TEST_MODEL } from '../../src/testing/service/test-config.js';
import {
  createTestService,
  type TestService,
  type TestServiceOptions,
} from '../../src/testing/service/test-service.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { PromptsPagePlugin } from '../../examples/src/prompts-page.plugin.js';
import { PromptsPlugin } from '../../examples/src/prompts.plugin.js';
import { adminCommand } from '../support/admin-command.js';
import { get } from '../support/sse-client.js';

const WORD = Symbol('WORD');

@Injectable()
class Speaker {
  constructor(
    @Inject(WORD) readonly word: string,
    @Inject(CLOCK) readonly now: Clock,
  ) {}
}

@ChatPlugin({ name: 'speaker', compatibility: '^1', providers: [Speaker, { provide: WORD, useValue: 'hello' }] })
class SpeakerPlugin {}

describe('a test service', () => {
  const running: TestService[] = [];
  const start = async (options?: TestServiceOptions) => {
    const service = await createTestService(options);
    running.push(service);
    return service;
  };
  const say = async (content: string, { origin }: TestService, apiKey: string, model = TEST_MODEL) => {
    const chat = new ChatClient({ baseUrl: origin, apiKey });
    return (await chat.complete({ model, messages: [{ role: 'user', content }] })).text;
  };
  const speaker = ({ app }: TestService) => app.get(Speaker, { strict: false });

  afterEach(async () => {
    for (const service of running.splice(0)) await service.stop();
  });

  it('has the built-in models, and an account for a key, without any option', async () => {
    const service = await start();
    const { key } = await service.createKey();
    expect(await say('echo it works', service, key, 'builtin/eliza')).toBe('it works');
  });

  it('has its own accounts and keys next to other services', async () => {
    const services = [await start(), await start(), await start({ overrides: [], clock: () => Date.now() })];
    const keys = await Promise.all(services.map((service) => service.createKey({ email: 'ada@example.com' })));
    for (const [of, { key }] of keys.entries()) {
      for (const [at, { origin }] of services.entries()) {
        const { status } = await get(origin, '/api/v1/usage', { authorization: `Bearer ${key}` });
        expect(status, `key ${of} at service ${at}`).toBe(of === at ? 200 : 401);
      }
    }
  });

  it.each<[string, NonNullable<TestServiceOptions['overrides']>[number]]>([
    ['a value', { provide: WORD, useValue: 'bye' }],
    ['a factory', { provide: WORD, useFactory: (now: Clock) => `bye ${now() > 0 ? '' : 'not '}now`, inject: [CLOCK] }],
    [
      'a class',
      {
        provide: Speaker,
        useClass: class {
          readonly word = 'bye';
        },
      },
    ],
  ])('has %s as its provider', async (_, override) => {
    const service = await start({ plugins: [SpeakerPlugin], overrides: [override] });
    expect(speaker(service).word).toMatch(/^bye/);
  });

  it('has the clock of the test everywhere', async () => {
    const service = await start({ plugins: [SpeakerPlugin], clock: () => 42 });
    expect(speaker(service).now()).toBe(42);
  });

  it('accepts CONFIG_FILE as text or as an object, and fills in variables', async () => {
    const provider = await ScriptedProvider.start();
    try {
      const file = { ...configFor(provider), tiers: { small: { requests_per_minute: 2 } }, default_tier: 'small' };
      const upstreams = { only: { protocol: 'openai', base_url: '${ADDRESS}', api_key: 'k' } };
      const models = [{ ...file.models[0], routes: [{ upstream: 'only', model: 'm' }] }];
      const texts: TestServiceOptions[] = [
        { config: file },
        { config: JSON.stringify(file) },
        { config: { ...file, upstreams, models }, env: { ADDRESS: provider.origin } },
      ];
      for (const options of texts) {
        const service = await start(options);
        const { key } = await service.createKey();
        expect(await say('Hi', service, key)).toBe('Hello world');
        expect(await say('Hi', service, key)).toBe('Hello world');
        await expect(say('Hi', service, key)).rejects.toMatchObject({ status: 429 });
      }
    } finally {
      await provider.stop();
    }
  });

  it('has browsers that are signed in, for the pages of plugins', async () => {
    const service = await start({ plugins: [PromptsPlugin, PromptsPagePlugin] });
    const { accountId, email, cookie } = await service.createSession();
    const headers = { cookie: `${cookie.name}=${cookie.value}`, origin: service.origin };
    const body = new URLSearchParams({ account_id: accountId, name: 'Short', text: 'Answer briefly.' });
    const answer = await fetch(`${service.origin}/prompts`, { method: 'POST', headers, body, redirect: 'manual' });
    expect(answer.status).toBe(303);
    expect(await (await fetch(`${service.origin}/prompts`, { headers })).text()).toContain('Answer briefly.');

    const operator = await service.createSession({ email, role: 'operator' });
    expect(operator).toMatchObject({ accountId, email });
    expect((await fetch(`${service.origin}/operator/accounts`, { headers })).status).toBe(200);
  });

  it('says at which port the metrics are', async () => {
    const service = await start({ env: { METRICS_PORT: '0' } });
    expect(await (await fetch(`${service.metricsOrigin()}/metrics`)).text()).toContain('# TYPE chat_');
    const without = await start();
    expect(() => without.metricsOrigin()).toThrow('METRICS_PORT is not set');
  });

  it('shares a database with an admin command', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'testing-kit-'));
    const env = { DATABASE_URL: `sqlite:${join(folder, 'team.sqlite')}` };
    const service = await start({ plugins: [PromptsPlugin], env });
    await service.createKey({ email: 'ada@example.com' });
    const { stdout } = await adminCommand(env, ['account', 'list']);
    expect(stdout).toContain('ada@example.com');
    await rm(folder, { recursive: true });
  });

  it('does not start with a configuration that is invalid', async () => {
    await expect(createTestService({ config: { models: 7 } })).rejects.toBeInstanceOf(ConfigError);
    await expect(createTestService({ env: { MAX_STREAMS: 'many' } })).rejects.toBeInstanceOf(ConfigError);
  });

  it('does not start on a port that is in use, and leaves nothing behind', async () => {
    const { origin } = await start();
    await expect(createTestService({ env: { PORT: new URL(origin).port } })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });
});
