import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { Request } from 'express';
import { Strategy } from 'passport';
import { describe, expect, it } from 'vitest';
import {
  LimitStore,
  ServiceError,
  type Admission,
  type AnswerReader,
  type ChatCall,
  type HttpProtocol,
  type InProcessProtocol,
  type Principal,
  type ProviderEvent,
  type StreamPart,
  type UpstreamConfig,
  type UpstreamRequest,
} from '../../../src/index.js';
import { routesTo } from '../../support/catalog.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { startService } from '../../support/service.js';
import { openStream, stream } from '../../support/sse-client.js';
import { wireOf } from '../../support/wire.js';

/** Says each message backwards. */
class MirrorProtocol implements InProcessProtocol {
  readonly transport = 'in-process';
  readonly name = 'mirror';

  async *stream({ messages }: ChatCall): AsyncGenerator<StreamPart> {
    for (const { content } of messages) {
      await Promise.resolve();
      if (content === 'break') throw new ServiceError('upstream_unavailable', 'The mirror is covered.');
      yield {
        type: 'text',
        text: Array.from(content as string)
          .reverse()
          .join(''),
      };
    }
    yield { type: 'complete', last: true };
  }
}

/** A provider whose events are plain words, and whose last is a full stop. */
class WordsProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'words';

  request({ messages }: ChatCall, { baseUrl }: UpstreamConfig): UpstreamRequest {
    return {
      url: new URL('words', baseUrl),
      headers: { 'content-type': 'text/plain' },
      body: messages.map(({ content }) => content as string).join(' '),
    };
  }

  open(): AnswerReader {
    return {
      parts: ({ data }: ProviderEvent) =>
        data === '.' ? [{ type: 'complete', last: true }] : [{ type: 'text', text: `${data} ` }],
    };
  }
}

type Verify = (accountId: string, done: (error: unknown, principal?: Principal) => void) => void;

/** The passport strategy of a team's proxy, which names the account in a header. */
class TrustedHeader extends Strategy {
  constructor(private readonly verify: Verify) {
    super();
  }

  override authenticate(request: Request): void {
    const accountId = request.headers['x-account'];
    if (typeof accountId !== 'string') {
      this.fail(401);
      return;
    }
    this.verify(accountId, (error, principal) => {
      if (principal === undefined) this.error(error);
      else this.success(principal);
    });
  }
}

/** Lets in who names an account in a header: the team's proxy has seen to it that it is true. */
@Injectable()
class ProxyStrategy extends PassportStrategy(TrustedHeader, 'proxy') {
  static readonly strategyName = 'proxy';

  validate(accountId: string): Principal {
    return {
      accountId,
      tier: { name: 'team', requestsPerMinute: 1, concurrentStreams: undefined, maxTokens: undefined, plugins: {} },
      credential: { kind: 'api_key', keyId: accountId, prefix: 'proxy' },
    };
  }
}

/** Lets in whom the team's billing has not blocked. */
class BillingLimitStore extends LimitStore {
  isBlocked = false;
  readonly settled: number[] = [];

  async admit(): Promise<Admission> {
    const state = await this.peek();
    if (this.isBlocked) return { admitted: false, refusedBy: 'tokensPerDay', retryAfterSeconds: 7, state };
    const settle = (tokensUsed: number): unknown => this.settled.push(tokensUsed);
    return { admitted: true, lease: { tokens: undefined, release: () => undefined, settle }, state };
  }

  peek(): Promise<Admission['state']> {
    const tokensPerDay = { limit: 100, remaining: this.isBlocked ? 0 : 4, resetSeconds: 7 };
    return Promise.resolve({ tokensPerDay });
  }
}

describe('a team’s own extension', () => {
  it('is a protocol that answers in the process', async () => {
    const models = routesTo(['http://127.0.0.1:9']).models;
    const service = await startService({
      upstreams: { acme: { protocol: 'mirror' } },
      models,
      protocols: [new MirrorProtocol()],
    });
    const { key } = await service.createKey();
    const say = (...contents: string[]) =>
      openStream(service.origin, { key, body: { messages: contents.map((content) => ({ role: 'user', content })) } });

    expect(await wireOf(await say('Hello 🦜'))).toMatchObject({ text: '🦜 olleH', terminal: 'done' });
    expect(await wireOf(await say('Hello', 'break'))).toMatchObject({
      text: 'olleH',
      terminal: 'upstream_unavailable',
    });
    expect((await say('break')).status).toBe(503);
    await service.stop();
  });

  it('is a protocol over HTTP, with all that the service does for those of its own', async () => {
    const provider = await ScriptedProvider.start();
    const { upstreams, models } = routesTo([provider]);
    const service = await startService({
      upstreams: { acme: { ...upstreams['acme'], protocol: 'words' } },
      models,
      protocols: [new WordsProtocol()],
    });
    const { key } = await service.createKey();
    provider.next((call) => {
      call.head().write('data: one\n\ndata: two\n\n').write('data: .\n\n').end();
    });

    expect(await wireOf(await openStream(service.origin, { key }))).toMatchObject({
      text: 'one two ',
      terminal: 'done',
    });
    expect(provider.calls[0]).toMatchObject({ path: '/words', body: 'Hello!' });
    provider.next((call) => {
      call.head().write('data: one\n\n').end();
    });
    expect(await wireOf(await openStream(service.origin, { key }))).toMatchObject({ terminal: 'upstream_error' });
    await service.stop();
    await provider.stop();
  });

  it('is a way to authenticate, used after the built-in ones', async () => {
    const provider = await ScriptedProvider.start();
    const service = await startService({ ...routesTo([provider]), strategies: [ProxyStrategy] });
    const { key } = await service.createKey();

    expect((await stream(service.origin, { headers: { 'x-account': 'ada' } })).status).toBe(200);
    expect((await stream(service.origin, { headers: { 'x-account': 'ada' } })).status).toBe(429);
    expect((await stream(service.origin, { headers: { 'x-account': 'bob' } })).status).toBe(200);
    expect((await stream(service.origin, { key })).status).toBe(200);
    const refused = await stream(service.origin);
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toMatch(/^Bearer /);
    await service.stop();
    await provider.stop();
  });

  it('is a store where the use of the limits is counted', async () => {
    const provider = await ScriptedProvider.start();
    const limitStore = new BillingLimitStore();
    const service = await startService({
      ...routesTo([provider]),
      tiers: { free: { tokens_per_day: 100 } },
      limitStore,
    });
    const { key } = await service.createKey();

    const admitted = await stream(service.origin, { key });
    limitStore.isBlocked = true;
    const refused = await stream(service.origin, { key });

    expect(admitted.status).toBe(200);
    expect(admitted.headers['x-ratelimit-remaining-tokens']).toBe('4');
    expect((await refused.error()).code).toBe('quota_exceeded');
    expect(refused.headers['retry-after']).toBe('7');
    expect(limitStore.settled).toHaveLength(1);
    await service.stop();
    await provider.stop();
  });
});
