import { Controller, Get, Injectable } from '@nestjs/common';
import { ChatPlugin, CurrentPrincipal, type Principal } from 'chat-streaming-service';
import { ChatClient } from 'chat-streaming-service/client';
import {
  configFor,
  createTestService,
  ScriptedProvider,
  TEST_MODEL,
  type Dialect,
  type TestService,
} from 'chat-streaming-service/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AcmeProtocol } from '../../examples/src/acme-protocol.plugin.js';

const HOUR_MS = 3_600_000;

/** Asks another program of the company. Tests replace it. */
@Injectable()
class Directory {
  nameOf(accountId: string): Promise<string> {
    return Promise.reject(new Error(`The directory is not reachable for ${accountId}.`));
  }
}

@Controller('greeting')
class GreetingController {
  constructor(private readonly directory: Directory) {}

  @Get()
  async greet(@CurrentPrincipal() { accountId }: Principal) {
    return { text: `Hello ${await this.directory.nameOf(accountId)}!` };
  }
}

@ChatPlugin({
  name: 'team',
  compatibility: '^1',
  protocols: [AcmeProtocol],
  controllers: [GreetingController],
  providers: [Directory],
})
class TeamPlugin {}

/** The events of Acme's protocol. */
const acme: Dialect = {
  protocol: 'acme',
  text: (text) => `event: token\ndata: ${JSON.stringify({ t: text })}\n\n`,
  reasoning: () => 'event: ping\ndata: \n\n',
  finish: (reason) => `event: end\ndata: ${JSON.stringify({ why: reason, in: 3, out: 2 })}\n\n`,
  failure: (type, message) => `event: error\ndata: ${JSON.stringify({ type, message })}\n\n`,
  endMarker: '',
};

describe('the plugin of the team', () => {
  let provider: ScriptedProvider;
  let service: TestService;
  let chat: ChatClient;
  let now = Date.now();

  beforeAll(async () => {
    provider = await ScriptedProvider.start(acme);
    service = await createTestService({
      plugins: [TeamPlugin],
      config: configFor(provider),
      overrides: [{ provide: Directory, useValue: { nameOf: () => Promise.resolve('Ada') } }],
      clock: () => now,
    });
    const { key } = await service.createKey();
    chat = new ChatClient({ baseUrl: service.origin, apiKey: key });
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  const greeting = async (key: string) =>
    fetch(`${service.origin}/api/v1/greeting`, { headers: { authorization: `Bearer ${key}` } });

  it('streams an answer of Acme', async () => {
    provider.next((call) => {
      call.answer('Good ', 'morning');
    });
    const answer = await chat.complete({ model: TEST_MODEL, messages: [{ role: 'user', content: 'Hi' }] });
    expect(answer.text).toBe('Good morning');
    expect(provider.calls[0]).toMatchObject({
      path: '/v1/generate',
      json: { turns: [{ role: 'user', content: 'Hi' }] },
    });
  });

  it('greets the owner of the key, until the key expires', async () => {
    const { key } = await service.createKey({ expiresAt: new Date(now + HOUR_MS) });
    const response = await greeting(key);
    expect(await response.json()).toEqual({ text: 'Hello Ada!' });

    now += 2 * HOUR_MS;

    expect((await greeting(key)).status).toBe(401);
  });
});
