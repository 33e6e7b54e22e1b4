import {
  Body,
  Controller,
  Get,
  Injectable,
  Post,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { IsIn, IsInt, IsOptional, IsString, Length, Min } from 'class-validator';
import { Strategy } from 'passport';
import type { Request } from 'express';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  ApiErrors,
  ChatPlugin,
  CurrentPrincipal,
  isFromTrustedProxy,
  OperatorOnly,
  OutsideApi,
  PageController,
  Public,
  type Principal,
  type ReadinessCheck,
  type SecurityScheme,
  type UsageFeed,
  type AdminCommand,
} from '../../../src/index.js';
import { CREATED_EXTENSIONS, SINGLE_EXTENSIONS } from '../../../src/plugin-api/extension-points.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { adminCommand } from '../../support/admin-command.js';
import { operatorSignedIn, signedIn } from '../../support/account-session.js';
import { startService, type RunningService, type ServiceOptions } from '../../support/service.js';

let service: RunningService | undefined;

async function started(plugin: new () => object, options: ServiceOptions = {}): Promise<RunningService> {
  service = await startService({ ...options, plugins: [plugin] });
  return service;
}

afterEach(async () => {
  await service?.stop();
  service = undefined;
});

describe('a readiness check of a plugin', () => {
  it('is a part of the readiness, and makes the process unready', async () => {
    let answer: () => boolean | Promise<boolean> = () => true;
    @Injectable()
    class Queue implements ReadinessCheck {
      readonly name = 'acme_queue';
      isReady() {
        return answer();
      }
    }
    @ChatPlugin({ name: 'acme', compatibility: '^1', readiness: [Queue] })
    class Plugin {}
    const { origin } = await started(Plugin);
    const ready = async () => {
      const response = await fetch(`${origin}/api/v1/health/ready`);
      return { status: response.status, body: (await response.json()) as { parts: object } };
    };

    expect(await ready()).toMatchObject({ status: 200, body: { parts: { acme_queue: 'up' } } });
    answer = () => false;
    expect(await ready()).toMatchObject({ status: 503, body: { parts: { acme_queue: 'down', database: 'up' } } });
    answer = () => Promise.reject(new Error('no queue'));
    expect(await ready()).toMatchObject({ status: 503, body: { error: { code: 'unavailable' } } });
  });

  it('needs a name of its own', async () => {
    class Database implements ReadinessCheck {
      readonly name = 'database';
      isReady = () => true;
    }
    @ChatPlugin({ name: 'acme', compatibility: '^1', readiness: [Database] })
    class Plugin {}
    await expect(started(Plugin)).rejects.toThrow('The readiness check "database"');
  });
});

describe('a page of a plugin for operators', () => {
  it('and its entry of the navigation are there for operators only', async () => {
    @PageController('spending')
    @OperatorOnly()
    class Spending {
      @Get()
      show() {
        return 'spending';
      }
    }
    @ChatPlugin({
      name: 'acme',
      compatibility: '^1',
      controllers: [Spending],
      navigation: [{ label: 'Spending', path: '/spending', audience: 'operators' }],
    })
    class Plugin {}
    const running = await started(Plugin);
    const as = async (path: string, { cookie }: Awaited<ReturnType<typeof signedIn>>) =>
      fetch(running.origin + path, { headers: { cookie: `${cookie.name}=${cookie.value}` } });
    const [member, operator] = [await signedIn(running), await operatorSignedIn(running)];

    expect((await as('/spending', member)).status).toBe(404);
    expect(await (await as('/spending', operator)).text()).toBe('spending');
    expect(await (await as('/settings/api-keys', member)).text()).not.toContain('Spending');
    expect(await (await as('/settings/api-keys', operator)).text()).toContain('href="/spending"');
  });
});

describe('the OpenAPI document', () => {
  it('has the routes of a plugin at their paths, with their credential and the members of their bodies', async () => {
    class Order {
      @Length(1, 40)
      @IsString()
      readonly name!: string;

      @Min(1)
      @IsInt()
      readonly amount!: number;

      @IsIn(['red', 'blue'], { each: true })
      @IsOptional()
      readonly colors?: string[];
    }
    @OutsideApi('acme/orders')
    class Orders {
      @ApiErrors(400)
      @Post()
      order(@Body() { name }: Order) {
        return { name };
      }

      @Public()
      @Get()
      list() {
        return [];
      }
    }
    @ChatPlugin({ name: 'acme', compatibility: '^1', controllers: [Orders] })
    class Plugin {}
    const { origin } = await started(Plugin);
    const document = (await (await fetch(`${origin}/api/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { security?: object; responses: object }>>;
      components: { schemas: Record<string, object> };
    };

    expect((await fetch(`${origin}/acme/orders`)).status).toBe(200);
    expect(Object.keys(document.paths).filter((path) => path.includes('orders'))).toEqual(['/acme/orders']);
    expect(document.paths['/acme/orders']).toMatchObject({ post: { security: [{ bearer: [] }] } });
    // A route with documented errors has its success, too.
    expect(Object.keys(document.paths['/acme/orders']?.['post']?.responses ?? {})).toEqual(['201', '400', '500']);
    expect(document.paths['/acme/orders']?.['get']?.security).toBeUndefined();
    expect(document.components.schemas['Order']).toMatchObject({
      required: ['name', 'amount'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 40 },
        amount: { type: 'integer', minimum: 1 },
        colors: { type: 'array', items: { enum: ['red', 'blue'] } },
      },
    });
  });
});

describe('an extension that is another provider', () => {
  it('is initialized once, and used', async () => {
    const calls: string[] = [];
    @Injectable()
    class Counter implements UsageFeed, OnModuleInit {
      readonly name = 'acme-counter';
      onModuleInit() {
        calls.push('init');
      }
      deliver = () => Promise.resolve();
    }
    @ChatPlugin({
      name: 'acme',
      compatibility: '^1',
      providers: [Counter],
      usageFeeds: [{ useFactory: (counter: Counter) => counter, inject: [Counter] }],
    })
    class Plugin {}
    await started(Plugin);
    expect(calls).toEqual(['init']);
  });

  it('has each lifecycle hook called once, whatever the kind of the extension', async () => {
    const calls: string[] = [];
    /** Fits every member of a description. */
    @Injectable()
    class Everything implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
      readonly name = 'everything';
      readonly transport = 'in-process';
      readonly families = [];
      readonly #calls = calls;
      onModuleInit = () => this.#calls.push('init');
      onApplicationBootstrap = () => this.#calls.push('bootstrap');
      onModuleDestroy = () => this.#calls.push('destroy');
      beforeApplicationShutdown() {
        this.#calls.push('before shutdown');
      }
      onApplicationShutdown() {
        this.#calls.push('shutdown');
      }
      models = () => Promise.resolve([]);
      isReady = () => true;
      limitsOf = () => [];
      deliver = () => Promise.resolve();
    }
    const factory = { useFactory: (everything: Everything) => everything, inject: [Everything] };
    const lists = [...CREATED_EXTENSIONS.keys()].filter((member) => member !== 'strategies');
    @ChatPlugin({
      name: 'acme',
      compatibility: '^1',
      providers: [Everything],
      ...Object.fromEntries(lists.map((member) => [member, [factory]])),
      ...Object.fromEntries(SINGLE_EXTENSIONS.map((member) => [member, factory])),
    })
    class Plugin {}
    await (await started(Plugin)).stop();
    expect(calls).toEqual(['init', 'bootstrap', 'destroy', 'before shutdown', 'shutdown']);
  });
});

describe('a strategy behind a proxy', () => {
  @Injectable()
  class CertificateStrategy extends Strategy {
    static readonly strategyName = 'certificate';
    static readonly securityScheme: SecurityScheme = { type: 'mutualTLS' };
    override authenticate(request: Request): void {
      const account = request.headers['x-client-name'];
      if (typeof account !== 'string' || !isFromTrustedProxy(request)) this.fail();
      else this.success(principal(account));
    }
  }
  const principal = (accountId: string): Principal => ({
    accountId,
    tier: {
      name: 'free',
      requestsPerMinute: undefined,
      concurrentStreams: undefined,
      maxTokens: undefined,
      plugins: {},
    },
    credential: { kind: 'external', id: accountId },
  });
  @Controller('who')
  class Who {
    @Get()
    who(@CurrentPrincipal() { accountId }: Principal) {
      return { accountId };
    }
  }
  @ChatPlugin({ name: 'acme', compatibility: '^1', strategies: [CertificateStrategy], controllers: [Who] })
  class Plugin {}
  const asked = async (origin: string, headers: Record<string, string>) =>
    (await fetch(`${origin}/api/v1/who`, { headers: { 'x-client-name': 'ada', ...headers } })).status;

  it('believes a header only if the proxies of TRUST_PROXY have passed the request on', async () => {
    const { origin } = await started(Plugin, { env: { TRUST_PROXY: '1' } });
    expect(await asked(origin, { 'x-forwarded-for': '203.0.113.9' })).toBe(200);
    expect(await asked(origin, {})).toBe(401);
    const document = (await (await fetch(`${origin}/api/openapi.json`)).json()) as {
      components: { securitySchemes: object };
    };
    expect(document.components.securitySchemes).toMatchObject({ certificate: { type: 'mutualTLS' } });
  });

  it('believes no header without TRUST_PROXY', async () => {
    const { origin } = await started(Plugin);
    expect(await asked(origin, { 'x-forwarded-for': '203.0.113.9' })).toBe(401);
  });

  it('does not accept a request with a revoked API key', async () => {
    const running = await started(Plugin, { env: { TRUST_PROXY: '1' } });
    const { key, id } = await running.createKey();
    await running.app.get(ApiKeysService, { strict: false }).revoke(id);
    const headers = { 'x-forwarded-for': '203.0.113.9', authorization: `Bearer ${key}` };
    expect(await asked(running.origin, headers)).toBe(401);
  });
});

class ExportCommand implements AdminCommand {
  static readonly command = { name: 'prompts export', optional: { json: 'FILE' } };

  run(options: Readonly<Record<string, string | undefined>>): Promise<unknown> {
    return Promise.resolve({ ...options });
  }
}

@ChatPlugin({ name: 'export', compatibility: '^1', admin: { commands: [ExportCommand] } })
class ExportPlugin {}

describe('a command of a plugin with an option named json', () => {
  let folder: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chat-command-'));
    env = { DATABASE_URL: `sqlite:${join(folder, 'chat.sqlite')}` };
    await adminCommand(env, ['account', 'create', '--email', 'ada@example.com', '--password-stdin'], 'a long password');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const run = (...words: string[]) => adminCommand(env, words, undefined, [ExportPlugin]);

  it('gets the value of the option', async () => {
    const { exitCode, stdout, stderr } = await run('prompts', 'export', '--json', 'prompts.json');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ json: 'prompts.json' });
  });

  it('does not offer the option of the other commands', async () => {
    const { stdout } = await run('prompts', 'export', '--help');
    expect(stdout).toBe('Usage: prompts export [--json FILE]\n');
  });
});
