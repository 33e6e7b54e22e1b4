import { getEventListeners } from 'node:events';
import {
  Controller,
  Get,
  Injectable,
  Logger,
  Res,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Scope,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { Entity, PrimaryColumn } from 'typeorm';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { AppModule } from '../../../src/app.module.js';
import { ChatService } from '../../../src/chat/chat.service.js';
import { ChatRequest } from '../../../src/chat/request/chat-request.dto.js';
import type { CompletionHook, CompletionOptions } from '../../../src/chat/hooks/completion-hook.js';
import { loadConfig } from '../../../src/platform/config/load-config.js';
import { ServiceError } from '../../../src/platform/common/service-error.js';
import { OutsideApi } from '../../../src/platform/http/surface/surface.decorator.js';
import { Public } from '../../../src/platform/http/routing/route-decorators.js';
import { ChatPlugin } from '../../../src/plugin-api/chat-plugin.decorator.js';
import { PLUGIN_CONFIG } from '../../../src/plugin-api/plugin-configs.js';
import { PageController } from '../../../src/plugins/dashboard/page-controller.decorator.js';
import type { PluginDescription } from '../../../src/plugin-api/plugin-description.js';
import type { Lease } from '../../../src/throttling/limit-store.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import type { Principal } from '../../../src/auth/principal/principal.js';
import { createService } from '../../../src/platform/start/service.js';
import { Latch } from '../../support/latch.js';
import { MODEL } from '../../support/catalog.js';
import { answering, beginning } from '../../support/scripts.js';
import { get, openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage, type StageOptions } from '../../support/stage.js';
import { readWire, wireOf } from '../../support/wire.js';

let stage: Stage | undefined;
let optionsOfStage: StageOptions | undefined;

async function clear(): Promise<void> {
  await stage?.clear();
  stage = undefined;
}

/** Tests in a row share a stage if they give the same object. Each finds a provider without calls. */
async function staged(options: StageOptions): Promise<Stage> {
  if (options !== optionsOfStage) await clear();
  optionsOfStage = options;
  stage ??= await setStage(1, options);
  stage.provider.calls.length = 0;
  return stage;
}

afterAll(clear);

function plugin(description: Partial<PluginDescription>): new () => object {
  @ChatPlugin({ name: 'ours', compatibility: '^1', ...description })
  class Ours {}
  return Ours;
}

function problemsOf(...plugins: (new () => object)[]): string {
  try {
    AppModule.register({ config: loadConfig({ DATABASE_URL: 'sqlite::memory:' }), plugins });
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}

describe('the description of a plugin', () => {
  @Injectable()
  class Bare {}
  class Needy {
    constructor(readonly bare: Bare) {}
  }
  const protocols = [{ name: 'x', transport: 'http' }] as unknown as PluginDescription['protocols'];
  /** A class like this one, with a static member. */
  const named = (type: new () => object, member: string, value: unknown): never =>
    Object.defineProperty(class extends type {}, member, { value }) as never;

  it.each<[string, (new () => object)[]]>([
    ['The class Bare in "plugins" has no description', [Bare]],
    ['its name must be lower-case letters', [plugin({ name: 'Our Plugin' })]],
    ['it is made for version ^2 of the service', [plugin({ compatibility: '^2' })]],
    ['it is made for version ^1.999 of the service', [plugin({ compatibility: '^1.999' })]],
    ['it is made for version ^1.0.999 of the service', [plugin({ compatibility: '^1.0.999' })]],
    ['compatibility must be a range of versions such as "^1"', [plugin({ compatibility: 'newest' })]],
    ['compatibility must be a range of versions such as "^1"', [plugin({ compatibility: '1.0.0' })]],
    ['compatibility must be a range of versions such as "^1"', [plugin({ compatibility: '' })]],
    ['compatibility must be a range of versions such as "^1"', [plugin({ compatibility: undefined as never })]],
    ['there is no member "protocol" of a description', [plugin({ protocol: [] } as object)]],
    ['protocols must name injectable classes or { useFactory, inject }', [plugin({ protocols } as object)]],
    ['Nest injects nothing into the class Needy: add @Injectable()', [plugin({ providers: [Needy] })]],
    ['Nest injects nothing into the class Needy: add @Injectable()', [plugin({ usageFeeds: [Needy as never] })]],
    ['the class name of the migration Bare must end with the time', [plugin({ migrations: [Bare as never] })]],
    ['an entry of navigation needs a label', [plugin({ navigation: [{ label: 'Ours', path: 'ours' }] })]],
    ['an entry of navigation needs a label', [plugin({ navigation: [{ label: '', path: '/ours' }] })]],
    ['the strategy Bare needs a static "strategyName"', [plugin({ strategies: [Bare as never] })]],
    [
      'needs a name such as "prompts list"',
      [plugin({ admin: { commands: [named(Bare, 'command', { name: 'Prompts' })] } })],
    ],
    ['have the name "ours"', [plugin({}), plugin({})]],
    ['have the strategy "bearer"', [plugin({ strategies: [named(Bare, 'strategyName', 'bearer')] })]],
    ['have the strategy "web-session"', [plugin({ strategies: [named(Bare, 'strategyName', 'web-session')] })]],
    ...(
      [
        ['the migration "Add1700000000000"', { migrations: [named(Bare, 'name', 'Add1700000000000')] }],
        ['the error "ours_full"', { errors: [{ code: 'ours_full' }] }],
        ['the navigation path "/ours"', { navigation: [{ label: 'Ours', path: '/ours' }] }],
        ['the command "prompts list"', { admin: { commands: [named(Bare, 'command', { name: 'prompts list' })] } }],
      ] as unknown as [string, Partial<PluginDescription>][]
    ).map(([repeated, description]): [string, (new () => object)[]] => [
      `have ${repeated}`,
      ['one', 'two'].map((name) => plugin({ ...description, name })),
    ]),
    [
      'More than one plugin has limitStore: one, two.',
      ['one', 'two'].map((name) => plugin({ name, limitStore: { useFactory: () => ({}) as never } })),
    ],
  ])('is checked at the start: %s', (problem, plugins) => {
    expect(problemsOf(...plugins)).toContain(problem);
  });

  it.each(['^1', '^1.0', '^1.0.0'])('can be made for %s', (compatibility) => {
    expect(problemsOf(plugin({ compatibility }))).toBe('');
  });

  it('is refused with every problem at once', () => {
    expect(problemsOf(plugin({ name: 'Ours', compatibility: '^7' })).split('\n').length).toBeGreaterThan(1);
  });
});

describe('the configuration of a plugin', () => {
  const config = z.strictObject({
    limit: z.int().min(1).default(5),
    keys: z.strictObject({ url: z.string() }).optional(),
  });
  @Controller('limit')
  class LimitController {
    static readonly seen: unknown[] = [];
    @Public()
    @Get()
    limit(): object {
      return { seen: LimitController.seen };
    }
  }
  const withConfig = plugin({
    config,
    controllers: [LimitController],
    providers: [
      { provide: 'seen', inject: [PLUGIN_CONFIG], useFactory: (value: unknown) => LimitController.seen.push(value) },
    ],
  });

  it('is injected with its defaults', async () => {
    const { origin } = (await staged({ plugins: [withConfig] })).service;
    expect(JSON.parse((await get(origin, '/api/v1/limit')).raw)).toEqual({ seen: [{ limit: 5 }] });
  });

  it.each([
    ['CONFIG_FILE.plugins.ours.limit: ', { ours: { limit: 'many' } }],
    ['CONFIG_FILE.plugins.theirs: there is no plugin of this name', { theirs: {} }],
  ])('prevents the start when it is invalid: %s', async (problem, pluginConfigs) => {
    await expect(staged({ plugins: [withConfig], pluginConfigs })).rejects.toThrow(problem);
  });

  it.each<[string, unknown, Record<string, string>]>([
    ['without the file', { limit: 7 }, { PLUGIN_OURS__LIMIT: '7' }],
    [
      'and replace the file',
      { limit: 7, keys: { url: '5' } },
      { PLUGIN_OURS__LIMIT: '7', PLUGIN_OURS__KEYS__URL: '5' },
    ],
  ])('has members from variables %s', async (_, expected, env) => {
    const seen: unknown[] = [];
    const reading = plugin({
      config,
      providers: [{ provide: 'seen', inject: [PLUGIN_CONFIG], useFactory: (value: unknown) => seen.push(value) }],
    });
    await staged({ plugins: [reading], env, pluginConfigs: { ours: { limit: 6 } } });
    expect(seen).toEqual([expected]);
  });

  it.each<[string, Record<string, string>, Record<string, object>?]>([
    ['PLUGIN_OURS__LIMIT: Invalid input', { PLUGIN_OURS__LIMIT: 'many' }],
    ['PLUGIN_OURS__LIMITT: Unrecognized key: "limitt"', { PLUGIN_OURS__LIMIT: '5', PLUGIN_OURS__LIMITT: '5' }],
    ['PLUGIN_OURS__KEYS__URI: Unrecognized key: "uri"', { PLUGIN_OURS__KEYS__URI: '5' }],
    ['PLUGIN_OURS__KEY__URL: Unrecognized key: "key"', { PLUGIN_OURS__KEY__URL: '5' }],
    ['CONFIG_FILE.plugins.ours: Unrecognized key: "size"', { PLUGIN_OURS__LIMIT: '5' }, { ours: { size: 5 } }],
    ['PLUGIN_THEIRS__LIMIT: there is no plugin of this name', { PLUGIN_THEIRS__LIMIT: '5' }],
  ])('prevents the start when a variable is invalid: %s', async (problem, env, pluginConfigs = {}) => {
    await expect(staged({ plugins: [withConfig], env, pluginConfigs })).rejects.toThrow(problem);
  });

  it('names the variables that are unset', async () => {
    const pluginConfigs = { ours: { limit: '${SOMETHING_UNSET}' } };
    await expect(staged({ plugins: [withConfig], pluginConfigs })).rejects.toThrow(
      'CONFIG_FILE.plugins.ours: the variable SOMETHING_UNSET is unset',
    );
  });

  it('of the service may come from another source', async () => {
    const app = await createService(
      AppModule.registerAsync({
        imports: [],
        useFactory: async () => Promise.resolve(loadConfig({ DATABASE_URL: 'sqlite::memory:', PORT: '0' })),
      }),
      false,
    );
    await app.listen(0, '127.0.0.1');
    expect((await get(await app.getUrl(), '/api/v1/chat/models')).raw).toContain('builtin/eliza');
    await app.close();
  });
});

describe('a route of a plugin', () => {
  @Controller('chat')
  class Models {
    @Get('models')
    models(): void {
      return;
    }
  }
  @OutsideApi('operator/accounts')
  class Accounts {
    @Get(':account')
    account(): void {
      return;
    }
  }

  it.each([
    ['Ours: ModelsController already has the route GET /api/v1/chat/models.', Models],
    ['Ours: OperatedAccountController already has the route GET /operator/accounts/:account.', Accounts],
  ])('does not take the place of a route of the service: %s', async (problem, controller) => {
    await expect(staged({ plugins: [plugin({ controllers: [controller] })] })).rejects.toThrow(problem);
  });

  it('may have the path of a feature that is left out', async () => {
    const accounts = plugin({ controllers: [Accounts] });
    const { origin, key } = await staged({ plugins: [accounts], env: { PLUGINS: 'none' } });
    const { status } = await get(origin, '/operator/accounts/ada', { authorization: `Bearer ${key}` });
    expect(status).toBe(200);
  });
});

describe('a part of a plugin that is missing', () => {
  @Entity('acme_notes')
  class Note {
    @PrimaryColumn('varchar')
    readonly id!: string;
  }

  it('stops the start if it is the table of an entity', async () => {
    await expect(staged({ plugins: [plugin({ entities: [Note] })] })).rejects.toThrow(
      'The plugin "ours": no migration creates acme_notes, the table of the entity Note.',
    );
  });

  @PageController('acme')
  class AcmePages {
    @Get(':name')
    show(@Res() response: Response): void {
      response.send('Acme');
    }

    @Get(':name/open')
    @Public()
    showToVisitors(@Res() response: Response): void {
      response.send('Open');
    }
  }
  const navigation = ['/acme/notes', '/acme', '/api/docs'].map((path) => ({ path, label: `To ${path}` }));

  it('is logged if it is the page of an entry in the navigation', async () => {
    const warn = vi.spyOn(Logger.prototype, 'warn');
    await staged({ plugins: [plugin({ controllers: [AcmePages], navigation })] });
    expect(warn.mock.calls).toEqual([
      ['The navigation entry "To /acme" leads to /acme, and no controller has a page there.'],
    ]);
    warn.mockRestore();
  });

  it('does not open a page to visitors, or to API keys', async () => {
    const { origin, key } = await staged({ plugins: [plugin({ controllers: [AcmePages] })] });
    const authorization = `Bearer ${key}`;
    expect((await get(origin, '/acme/notes')).status).toBe(401);
    expect((await get(origin, '/acme/notes', { authorization })).status).toBe(403);
    expect((await get(origin, '/acme/notes/open')).status).toBe(200);
  });
});

describe('a global interceptor', () => {
  @Injectable()
  class Watching implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle();
    }
  }

  it.each([
    ['for all requests', Scope.DEFAULT],
    ['that is created for each request', Scope.REQUEST],
  ])('%s is refused at the start', async (_, scope) => {
    const interceptor = plugin({ providers: [{ provide: APP_INTERCEPTOR, useClass: Watching, scope }] });
    await expect(staged({ plugins: [interceptor] })).rejects.toThrow(/APP_INTERCEPTOR.*@UseInterceptors/);
  });
});

describe('a guard for all routes', () => {
  /** Refuses accounts that have not accepted the terms, and notes what it knows of a request. */
  @Injectable()
  class Terms implements CanActivate {
    static readonly seen: unknown[] = [];
    canActivate(context: ExecutionContext): boolean {
      const request = context.switchToHttp().getRequest<Request>();
      Terms.seen.push([request.path, request.context.principal?.tier.name, request.body]);
      if (request.headers['x-terms'] === 'accepted') return true;
      throw new ServiceError('forbidden', 'Accept the terms first.');
    }
  }

  it('runs after the guards of the service, which know the caller and the body, and count the request', async () => {
    const guarded = plugin({ providers: [{ provide: APP_GUARD, useClass: Terms }] });
    const { origin, key, provider } = await staged({ plugins: [guarded], tiers: { free: { requests_per_minute: 9 } } });
    const refused = await stream(origin, { key });
    expect([refused.status, (await refused.error()).message]).toEqual([403, 'Accept the terms first.']);
    expect(refused.headers['x-ratelimit-remaining']).toBe('8');
    expect(provider.calls).toHaveLength(0);
    expect((await stream(origin, { key, headers: { 'x-terms': 'accepted' } })).status).toBe(200);
    expect((await stream(origin)).status).toBe(401);
    expect(Terms.seen).toEqual(Array(2).fill(['/api/v1/chat/stream', 'free', expect.any(ChatRequest)]));
  });
});

const records: UsageRecord[] = [];
let wrapStream: NonNullable<CompletionHook['wrapStream']>;
let transformRequest: NonNullable<CompletionHook['transformRequest']>;
const WITHOUT_HOOKS: StageOptions = { records };
const WRAPPING: StageOptions = { records, completionHooks: [{ wrapStream: (...given) => wrapStream(...given) }] };
const TRANSFORMING: StageOptions = {
  records,
  price: { input_per_million: 1, output_per_million: 2 },
  tiers: { free: { tokens_per_day: 100_000 } },
  completionHooks: [{ transformRequest: (...given) => transformRequest(...given) }],
};

function wrapping(hook: typeof wrapStream): Promise<Stage> {
  wrapStream = hook;
  return staged(WRAPPING);
}

function transforming(hook: typeof transformRequest): Promise<Stage> {
  transformRequest = hook;
  return staged(TRANSFORMING);
}

const HOOKS: [string, () => Promise<Stage>][] = [
  ['with hooks', () => transforming((request) => request)],
  ['with hooks that wrap', () => wrapping((parts) => parts)],
  ['without hooks', () => staged(WITHOUT_HOOKS)],
];

describe('a completion hook', () => {
  it('sees requests in order and parts in the opposite order, and can change the model', async () => {
    const named = (name: string): CompletionHook => ({
      transformRequest: ({ messages }) => ({
        model: MODEL,
        messages: messages.map(({ role, content }) => ({ role, content: `${content}${name}` })),
      }),
      async *wrapStream(parts) {
        for await (const part of parts) yield part.type === 'text' ? { ...part, text: `${part.text}${name}` } : part;
      },
    });
    const { provider, origin, key } = await staged({ completionHooks: [named('1'), named('2')] });
    provider.next(answering('A'));
    const answer = await stream(origin, { key, body: { model: 'some/alias' } });
    expect(provider.calls[0]?.body).toContain('Hello!12');
    expect(readWire(answer.raw).text).toBe('A21');
  });

  it('that ends early never makes an answer look complete', async () => {
    const latch = new Latch();
    const { provider, origin, key } = await wrapping(async function* (parts) {
      for await (const part of parts) {
        yield part;
        await latch.opened;
        return;
      }
    });
    provider.next(beginning('Hel'));
    const answer = await openStream(origin, { key });
    latch.open();
    expect(await wireOf(answer)).toMatchObject({ text: 'Hel', terminal: 'internal_error' });
    await provider.calls[0]?.over;
    expect(provider.calls[0]?.abortedAt).toBeDefined();
  });

  it('that swallows the failure of the provider does not make the answer complete either', async () => {
    const { provider, origin, key } = await wrapping(async function* (parts) {
      try {
        yield* parts;
      } catch {
        yield { type: 'text', text: ' (and so on)' };
      }
    });
    provider.next((call) => {
      call.head().text('Hel').end();
    });
    expect(readWire((await stream(origin, { key })).raw).terminal).toBe('internal_error');
  });

  it('that fails in any way is an internal error, before any text as an HTTP answer', async () => {
    const { origin, key } = await wrapping(() => {
      throw new Error('a bug');
    });
    const answer = await stream(origin, { key });
    expect([answer.status, (await answer.error()).code]).toEqual([500, 'internal_error']);
    expect(answer.raw).not.toContain('a bug');
  });

  it('that makes a prompt longer leaves the answer all the tokens that were reserved for it', async () => {
    const rules = { role: 'system' as const, content: 'word '.repeat(3000) };
    const { origin, key, provider } = await transforming((request) =>
      Object.assign(new ChatRequest(), request, { messages: [rules, ...request.messages] }),
    );
    await stream(origin, { key });
    await stream(origin, { key, body: { max_tokens: 10 } });
    // The context has 8,192 tokens, of which the answer gets what the prompt leaves.
    expect(provider.calls.map(({ json }) => json['max_tokens'])).toEqual([expect.any(Number), 10]);
    expect(provider.calls[0]?.json['max_tokens']).toBeGreaterThan(1_024);
  });

  it('that returns an invalid request is an internal error', async () => {
    const { origin, key, provider } = await transforming(({ model, messages }) => ({
      model,
      messages,
      temperature: 99,
    }));
    expect((await stream(origin, { key })).status).toBe(500);
    expect(provider.calls).toEqual([]);
  });

  it('gets a signal that aborts when the completion is over, and holds a slow reader back', async () => {
    const signals: AbortSignal[] = [];
    const { origin, key } = await transforming((request, { signal }) => {
      signals.push(signal);
      return request;
    });
    await stream(origin, { key });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

describe('a completion as a call', () => {
  const HELLO = { model: MODEL, messages: [{ role: 'user' as const, content: 'Hello!' }] };

  function callerWith(lease?: Lease) {
    const principal = {
      accountId: 'ada',
      tier: { name: 'free' },
      credential: { kind: 'external', id: 'job' },
    } as Principal;
    return { principal, signal: new AbortController().signal, requestId: 'job-1', lease };
  }

  function leaseThat(seen: string[]): Lease {
    return {
      tokens: 100,
      release: () => void seen.push('released'),
      settle: (tokens) => void seen.push(`settled ${tokens}`),
    };
  }

  it('tells its hooks the id of its record, also when it has a budget', async () => {
    const ids: string[] = [];
    const { service } = await transforming((request, { recordId }) => {
      ids.push(recordId);
      return request;
    });
    const chat = service.app.get(ChatService, { strict: false });
    const caller = callerWith();
    const first = await chat.complete(HELLO, caller);
    const tier = { ...caller.principal.tier, budget: { micros: 1_000_000, per: 'month' as const } };
    const second = await chat.complete(HELLO, { ...caller, principal: { ...caller.principal, tier } });
    expect(ids).toEqual([first.record.id, second.record.id]);
  });

  describe.each(HOOKS)('%s', (_, stageWithHooks) => {
    it('leaves nothing at the signal of its caller', async () => {
      const { service } = await stageWithHooks();
      const chat = service.app.get(ChatService, { strict: false });
      const caller = callerWith();
      await chat.complete(HELLO, caller);
      await expect(chat.complete({ ...HELLO, model: 'no/model' }, caller)).rejects.toMatchObject({
        name: 'ServiceError',
      });
      expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
    });

    it('has the record of the ledger with its counts and their source', async () => {
      const { service, provider } = await stageWithHooks();
      const chat = service.app.get(ChatService, { strict: false });
      provider.next((call) => {
        call.head().text('Hello').finish().endMarker().end();
      });
      const { record } = await chat.complete(HELLO, callerWith());
      expect(record).toBe(records.at(-1));
      expect(record).toMatchObject({ requestId: 'job-1', outcome: 'completed', outputTokens: { source: 'estimated' } });

      const parts = await chat.stream(HELLO, callerWith());
      const { recordId } = parts;
      await parts.return();
      expect(await parts.record).toMatchObject({ id: recordId, requestId: 'job-1', outcome: 'client_gone' });
      expect(recordId).not.toBe(record.id);
    });
  });

  it('collects the text, and settles and releases a plain lease', async () => {
    const { service } = await staged(WITHOUT_HOOKS);
    const chat = service.app.get(ChatService, { strict: false });
    const seen: string[] = [];
    const { text, finishReason } = await chat.complete(HELLO, callerWith(leaseThat(seen)));
    expect([text, finishReason]).toEqual(['Hello world', 'stop']);
    expect(seen[0]).toMatch(/^settled [1-9]/);
    expect(seen).toContain('released');
  });

  it('refuses an invalid request, and releases the lease', async () => {
    const { service, provider } = await staged(WITHOUT_HOOKS);
    const chat = service.app.get(ChatService, { strict: false });
    for (const wrong of [{ temperature: 99 }, { max_tokens: 0 }, { messages: [] }, { model: 'no/model' }]) {
      const seen: string[] = [];
      const asked = chat.complete({ ...HELLO, ...wrong }, callerWith(leaseThat(seen)));
      await expect(asked).rejects.toMatchObject({ name: 'ServiceError' });
      expect(seen).toEqual(['settled 0', 'released']);
    }
    expect(provider.calls).toEqual([]);
  });

  it('has an estimate of the tokens of a prompt', async () => {
    const { service } = await staged(WITHOUT_HOOKS);
    const chat = service.app.get(ChatService, { strict: false });
    expect(chat.estimateTokens(HELLO)).toBeGreaterThan(0);
    const content = 'The quick brown fox jumps over the lazy dog. '.repeat(100);
    const estimate = chat.estimateTokens({ messages: [{ role: 'user', content }] });
    expect(estimate).toBeGreaterThan(800);
    expect(estimate).toBeLessThan(1_200);
  });

  it('collects no more than eight megabytes, and then stops the provider', async () => {
    const { service, provider } = await staged(WITHOUT_HOOKS);
    const piece = 'x'.repeat(64 * 1024);
    provider.next((call) => {
      call.head();
      for (let count = 0; count <= 128; count++) call.text(piece);
    });
    const asked = service.app.get(ChatService, { strict: false }).complete(HELLO, callerWith());
    await expect(asked).rejects.toMatchObject({ code: 'upstream_error', message: 'The answer is too long.' });
    await provider.calls[0]?.over;
    expect(provider.calls[0]?.abortedAt).toBeDefined();
  });

  it('rejects without a complete answer', async () => {
    const { service, provider } = await staged(WITHOUT_HOOKS);
    provider.next((call) => {
      call.head().text('Hel').end();
    });
    const asked = service.app.get(ChatService, { strict: false }).complete(HELLO, callerWith());
    await expect(asked).rejects.toMatchObject({ code: 'upstream_error' });
  });

  const REASONED = ['reasoning: Hm', 'reasoning: openai:reasoning_content', 'text: Hello'];

  it.each<[string, StageOptions, CompletionOptions | undefined, string[]]>([
    ['has the reasoning where the caller asks for it', WITHOUT_HOOKS, { reasoning: true }, REASONED],
    ['has no reasoning by default', WITHOUT_HOOKS, undefined, ['text: Hello']],
    ['has the reasoning, through hooks', WRAPPING, { reasoning: true }, REASONED],
  ])('%s', async (_, options, streamOptions, expected) => {
    wrapStream = (parts) => parts;
    const { service, provider } = await staged(options);
    provider.next((call) => {
      call.head().reasoning('Hm').text('Hello').finish().endMarker().end();
    });
    const pieces: string[] = [];
    const chat = service.app.get(ChatService, { strict: false });
    for await (const part of await chat.stream(HELLO, callerWith(), streamOptions)) {
      if (part.type === 'text') pieces.push(`text: ${part.text}`);
      if (part.type === 'reasoning') pieces.push(`reasoning: ${part.text}${part.signature ?? ''}`);
    }
    expect(pieces).toEqual(expected);
  });

  it('adds up the tokens that the provider and the hooks report in several parts', async () => {
    const { service, provider } = await wrapping(async function* (parts) {
      yield* parts;
      yield { type: 'usage', usage: { reasoningOutputTokens: 1 } };
    });
    const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } });
    provider.next((call) => {
      call.head().text('Hello').finish().write(`data: ${usage}\n\n`).endMarker().end();
    });
    const answer = await service.app.get(ChatService, { strict: false }).complete(HELLO, callerWith());
    expect(answer).toMatchObject({
      text: 'Hello',
      usage: { inputTokens: 3, outputTokens: 2, reasoningOutputTokens: 1 },
    });
  });
});
