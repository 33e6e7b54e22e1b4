import { Controller, Injectable, Post, Res } from '@nestjs/common';
import type { Response } from 'express';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  AccountsService,
  Caller,
  ChatPlugin,
  ChatService,
  LimitedByTier,
  LimitStore,
  OpensStream,
  StreamSender,
  TokensUsed,
  ServiceError,
  type AccountLimit,
  type AccountLimits,
  type ChatCaller,
  type ChatRequest,
  type CompletionHook,
  type CompletionPart,
  type LimitedCall,
  type StreamFormat,
} from '../../../src/index.js';
import { configFor, createTestService, ScriptedProvider, TEST_MODEL, type TestService } from '../../../src/testing.js';
import { MODEL } from '../../support/catalog.js';
import { stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { sharedStores } from '../../replicas/support/stores.js';

const TEAM_LIMIT = 10;

/** Ten requests per minute of all accounts of a team. */
class TeamLimits implements AccountLimits {
  limitsOf({ principal: { tier } }: LimitedCall) {
    const limit = { name: 'acme-team', unit: 'requests', window: 'minute', max: TEAM_LIMIT } as const;
    return [{ ...limit, scope: `team:${tier.name}`, label: 'requests per minute', header: 'Team' }];
  }
}

/** Refuses what is rude. */
class Manners implements CompletionHook {
  transformRequest(asked: ChatRequest): ChatRequest {
    if (asked.messages[0]?.content === 'rude') throw new ServiceError('invalid_request', 'Be polite.');
    return asked;
  }
}

@ChatPlugin({ name: 'team', compatibility: '^1', limits: [TeamLimits], completionHooks: [Manners] })
class TeamPlugin {}

/** Two requests per minute to each model, and 1,000 tokens per month. */
@Injectable()
class Limits implements AccountLimits {
  constructor(private readonly ledger: TokensUsed) {}

  limitsOf({ principal: { accountId }, model = '' }: LimitedCall) {
    const usedBefore = (from: Date) => this.ledger.since(accountId, from);
    return [
      { name: 'acme-month', unit: 'tokens', window: 'month', max: 1_000, usedBefore, label: 'tokens per month' },
      { name: 'acme-rate', key: model, unit: 'requests', window: 'minute', max: 2, label: 'requests', header: 'Model' },
    ] as const;
  }
}

@ChatPlugin({ name: 'acme', compatibility: '^1', limits: [Limits] })
class Plugin {}

let stages: Stage[] = [];

async function staged(env: Readonly<Record<string, string>> = {}): Promise<Stage> {
  const stage = await setStage(1, { plugins: [Plugin], tiers: { free: { requests_per_minute: 5 } }, env });
  stages.push(stage);
  return stage;
}

afterEach(async () => {
  for (const stage of stages) await stage.clear();
  stages = [];
});

describe('the limits of a plugin', () => {
  it('join the limits of the tier: a request that they refuse uses nothing of the tier', async () => {
    const { origin, key } = await staged();
    const ask = () => stream(origin, { key, body: { model: MODEL, max_tokens: 100 } });

    const first = await ask();
    expect(first.headers).toMatchObject({ 'x-ratelimit-remaining': '4', 'x-ratelimit-remaining-model': '1' });
    expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject({ 'x-ratelimit-remaining': '3', 'x-ratelimit-remaining-model': '0' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(await refused.error()).toMatchObject({
      code: 'rate_limit_exceeded',
      message: 'The tier allows 2 requests. A minute begins with its first request.',
    });
    // The tier of the account is free for other models.
    expect((await stream(origin, { key, body: { model: 'none/at-all' } })).headers['x-ratelimit-remaining']).toBe('2');
  });

  it('reserve tokens, and refuse a prompt above them with quota_exceeded', async () => {
    const { origin, key } = await staged();
    const long = 'word '.repeat(4_000);
    const refused = await stream(origin, { key, body: { model: MODEL, messages: [{ role: 'user', content: long }] } });
    expect(refused.status).toBe(429);
    const { code, message } = await refused.error();
    expect(code).toBe('quota_exceeded');
    expect(message).toMatch(
      /^The tier allows 1000 tokens per month\. 1000 remain in this month, and this request needs up to \d+\. Send a shorter prompt\.$/,
    );
    expect((await stream(origin, { key, body: { model: MODEL } })).status).toBe(200);
  });
});

describe('the limits of a plugin for one compatible API', () => {
  it('know the route, the API and the model of each request', async () => {
    const calls: Pick<LimitedCall, 'route' | 'surface' | 'model'>[] = [];
    class Agents implements AccountLimits {
      limitsOf({ route, surface, model }: LimitedCall) {
        calls.push({ route, surface, model });
        if (surface !== 'messages') return [];
        return [{ name: 'acme-agents', unit: 'requests', window: 'day', max: 1, label: 'requests of agents' } as const];
      }
    }
    @ChatPlugin({ name: 'agents', compatibility: '^1', limits: [Agents] })
    class AgentsPlugin {}
    const stage = await setStage(1, { plugins: [AgentsPlugin] });
    stages.push(stage);
    const ask = (path: string, body: object = {}) =>
      stream(stage.origin, { key: stage.key, path: `/api/v1/${path}`, body });

    expect((await ask('messages', { max_tokens: 9 })).status).toBe(200);
    const refused = await ask('messages', { max_tokens: 9 });
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.raw)).toMatchObject({
      error: { type: 'rate_limit_error', message: 'The tier allows 1 request of agents.' },
    });
    expect((await ask('chat/stream')).status).toBe(200);
    expect((await ask('chat/completions')).status).toBe(200);
    expect(calls.slice(1)).toEqual([
      { route: '/api/v1/messages', surface: 'messages', model: MODEL },
      { route: '/api/v1/chat/stream', surface: undefined, model: MODEL },
      { route: '/api/v1/chat/completions', surface: 'chat-completions', model: MODEL },
    ]);
  });
});

describe('a route of a plugin that opens a stream', () => {
  it('counts against the limits of the tier', async () => {
    @Controller('feed')
    class Feed {
      @OpensStream()
      @Post()
      feed() {
        return {};
      }
    }
    @ChatPlugin({ name: 'feed', compatibility: '^1', controllers: [Feed] })
    class FeedPlugin {}
    const stage = await setStage(1, { plugins: [FeedPlugin], tiers: { free: { requests_per_minute: 1 } } });
    stages.push(stage);
    const call = () =>
      fetch(`${stage.origin}/api/v1/feed`, { method: 'POST', headers: { authorization: `Bearer ${stage.key}` } });
    expect([(await call()).status, (await call()).status]).toEqual([201, 429]);
  });
});

describe('the limits of a scope', () => {
  const staged = async () => {
    const stage = await setStage(1, { plugins: [TeamPlugin], tiers: { free: { requests_per_minute: 100 } } });
    stages.push(stage);
    const { key: other } = await stage.service.createKey();
    return { ...stage, other };
  };

  it('count all accounts of the scope together, and give back what they refuse', async () => {
    const { origin, key, other } = await staged();
    const ask = (by: string) => stream(origin, { key: by, body: { model: MODEL } });
    const answers = await Promise.all(Array.from({ length: 15 }, (_, index) => ask(index % 2 === 0 ? key : other)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(TEAM_LIMIT);

    const refused = await ask(other);
    expect(refused.status).toBe(429);
    expect(refused.headers['x-ratelimit-remaining-team']).toBe('0');
    expect(await refused.error()).toMatchObject({
      code: 'rate_limit_exceeded',
      message:
        'The limit that all accounts of team:free share allows 10 requests per minute. A minute begins with its first request.',
    });
    const left = await Promise.all([ask(key), ask(other)]);
    const used = left.map(({ headers }) => 100 - Number(headers['x-ratelimit-remaining']));
    expect(used.reduce((sum, one) => sum + one)).toBe(TEAM_LIMIT);
  });

  it('do not count a request that a hook refuses, as often as the limit allows', async () => {
    const { origin, key } = await staged();
    const rude = () => stream(origin, { key, body: { model: MODEL, messages: [{ role: 'user', content: 'rude' }] } });
    for (let refused = 0; refused < TEAM_LIMIT; refused++) {
      const { status, headers } = await rude();
      expect([status, headers['x-ratelimit-remaining'], headers['x-ratelimit-remaining-team']]).toEqual([
        400,
        '100',
        '10',
      ]);
    }
    // The scope has given back as many requests as it allows, and the account has not. From now on, they count for the scope.
    expect((await rude()).headers['x-ratelimit-remaining-team']).toBe('9');
    expect((await rude()).headers['x-ratelimit-remaining-team']).toBe('8');
  });
});

const EMAILS = ['ada@example.com', 'bob@example.com'];

/** 10,000 tokens per month of all accounts of a team. */
@Injectable()
class TeamBudget implements AccountLimits {
  private readonly budget: AccountLimit = {
    ...{ name: 'acme-team-month', scope: 'team:red', unit: 'tokens' as const, window: 'month' as const, max: 10_000 },
    ...{ label: 'tokens per month', header: 'Team', usedBefore: (from: Date) => this.usedSince(from) },
  };

  constructor(
    private readonly accounts: AccountsService,
    private readonly ledger: TokensUsed,
    private readonly store: LimitStore,
  ) {}

  limitsOf() {
    return [this.budget];
  }

  /** What is left of the budget, for a page or a job. */
  async left(): Promise<number | undefined> {
    const states = await this.store.peek('scope:team:red', [{ ...this.budget, key: `own:${this.budget.name}` }]);
    return states[this.budget.name]?.remaining;
  }

  private async usedSince(from: Date): Promise<number> {
    const accounts = await Promise.all(EMAILS.map((email) => this.accounts.findByEmail(email)));
    const used = await Promise.all(accounts.map((account) => this.ledger.since(account?.id ?? '', from)));
    return used.reduce((sum, tokens) => sum + tokens, 0);
  }
}

@ChatPlugin({ name: 'team-budget', compatibility: '^1', providers: [TeamBudget], limits: [TeamBudget] })
class TeamBudgetPlugin {}

/** Each of two accounts uses 12 tokens. A process or a Redis without counts then begins with the sum of the ledger. */
async function expectBudgetOfTeam(env: Readonly<Record<string, string>>, forget: () => Promise<void>): Promise<void> {
  const provider = await ScriptedProvider.start();
  const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } });
  provider.answers((call) => {
    call.head().text('Hello').finish().write(`data: ${usage}\n\n`).endMarker().end();
  });
  const start = () => createTestService({ plugins: [TeamBudgetPlugin], config: configFor(provider), env });
  const before = await start();
  for (const email of EMAILS) {
    const { key } = await before.createKey({ email });
    expect((await stream(before.origin, { key, body: { model: TEST_MODEL, max_tokens: 100 } })).status).toBe(200);
  }
  const leftIn = ({ app }: TestService) => app.get(TeamBudget, { strict: false }).left();
  await expect.poll(() => leftIn(before)).toBe(10_000 - 2 * 12);
  await before.stop();
  await forget();

  const after = await start();
  expect(await leftIn(after)).toBe(10_000 - 2 * 12);
  const { key } = await after.createKey({ email: EMAILS[1] });
  const refused = await stream(after.origin, { key, body: { model: TEST_MODEL, max_tokens: 9_976 } });
  expect(refused.headers['x-ratelimit-remaining-team']).toBe(String(10_000 - 2 * 12));
  expect((await refused.error()).message).toMatch(
    /^The limit that all accounts of team:red share allows 10000 tokens per month\. 9976 remain in this month/,
  );
  await Promise.all([after.stop(), provider.stop()]);
}

describe('the tokens of a scope', () => {
  it('begin with what its accounts have used before, and can be read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'scope-'));
    await expectBudgetOfTeam({ DATABASE_URL: `sqlite:${folder}/chat.sqlite` }, () => Promise.resolve());
    await rm(folder, { recursive: true });
  });
});

const shared = await sharedStores();

describe.each(shared === undefined ? [] : [shared])('the limits of a plugin in Redis', ({ postgres, redis }) => {
  it('begin with the tokens that the accounts of a scope have used before', async () => {
    const database = await postgres.create();
    const { url = '' } = database.config as { readonly url?: string };
    await expectBudgetOfTeam({ DATABASE_URL: url, REDIS_URL: redis.url }, () => redis.flush());
    await database.drop();
  });

  it('count the requests of all replicas', async () => {
    const database = await postgres.create();
    const { url = '' } = database.config as { readonly url?: string };
    const env = { DATABASE_URL: url, REDIS_URL: redis.url };
    const provider = await ScriptedProvider.start();
    const options = { plugins: [Plugin, TeamPlugin], config: configFor(provider), env };
    const [one, other] = [await createTestService(options), await createTestService(options)];
    const { key } = await one.createKey();
    await other.createKey();
    const ask = async ({ origin }: TestService) => (await stream(origin, { key, body: { model: TEST_MODEL } })).status;

    expect([await ask(one), await ask(other), await ask(one), await ask(other)]).toEqual([200, 200, 429, 429]);

    const keys = await Promise.all(Array.from({ length: 20 }, () => one.createKey()));
    const answers = await Promise.all(
      keys.map(({ key: of }, index) =>
        stream((index % 2 === 0 ? one : other).origin, { key: of, body: { model: TEST_MODEL } }),
      ),
    );
    // Two of the scope were used above.
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(TEAM_LIMIT - 2);
    await Promise.all([one.stop(), other.stop(), provider.stop()]);
    await database.drop();
    await redis.drop();
  });
});

const ANSWER_TOKENS = 300;

/** Asks the model three times for one request. */
@Controller('chains')
@LimitedByTier({ body: Object, tokensOf: () => ({ atLeast: 1, atMost: 2_000 }) })
class ChainController {
  constructor(private readonly chat: ChatService) {}

  @Post()
  async run(@Caller() caller: ChatCaller) {
    const messages = [{ role: 'user' as const, content: 'Go on.' }];
    const once = () => this.chat.complete({ model: MODEL, messages, max_tokens: ANSWER_TOKENS }, caller);
    return [await once(), ...(await Promise.all([once(), once()]))].map(({ text }) => text);
  }
}

/** Writes two chapters as one answer. */
@Controller('stories')
@LimitedByTier({ body: Object, tokensOf: () => ({ atLeast: 1, atMost: 2_000 }) })
class StoryController {
  constructor(
    private readonly chat: ChatService,
    private readonly streams: StreamSender,
  ) {}

  @Post()
  async write(@Caller() caller: ChatCaller, @Res() response: Response) {
    const isTold = response.req.query['told'] === 'yes';
    const parts = await this.chat.compose((own) => this.steps(own, isTold), caller);
    this.streams.send(parts, LINES, response);
  }

  /** @param isTold whether the reader gets the text of the first completion, too. */
  private async *steps(caller: ChatCaller, isTold: boolean): AsyncIterable<CompletionPart> {
    const request = { model: MODEL, messages: [{ role: 'user' as const, content: 'Go on.' }] };
    for await (const part of await this.chat.stream(request, caller)) if (isTold) yield part;
    yield* await this.chat.stream(request, caller);
  }
}

const LINES: StreamFormat = {
  contentType: 'application/x-ndjson',
  part: (part) => (part.type === 'text' ? `${part.text}\n` : undefined),
  keepAlive: () => '\n',
  end: () => 'end\n',
  error: ({ code }) => `${code}\n`,
};

@ChatPlugin({ name: 'chain', compatibility: '^1', controllers: [ChainController, StoryController] })
class ChainPlugin {}

describe('several completions of one request', () => {
  it('all count for the tokens of the day', async () => {
    const stage = await setStage(1, { plugins: [ChainPlugin], tiers: { free: { tokens_per_day: 10_000 } } });
    stages.push(stage);
    const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: ANSWER_TOKENS } });
    stage.provider.answers((call) => {
      call.head().text('Hello').finish().write(`data: ${usage}\n\n`).endMarker().end();
    });
    const headers = { authorization: `Bearer ${stage.key}` };
    const answer = await fetch(`${stage.origin}/api/v1/chains`, { method: 'POST', headers });
    expect([answer.status, await answer.json()]).toEqual([201, ['Hello', 'Hello', 'Hello']]);
    await expect
      .poll(async () => {
        const next = await stream(stage.origin, { key: stage.key, body: { model: MODEL, max_tokens: 20_000 } });
        return next.headers['x-ratelimit-remaining-tokens'];
      })
      .toBe(String(10_000 - 3 * (7 + ANSWER_TOKENS)));
  });
});

describe('an answer of several completions', () => {
  it.each([
    [
      'tokens',
      {
        tier: { tokens_per_day: 400 },
        code: 'quota_exceeded',
        message: /^The tier allows 400 tokens per day. 0 remain/,
      },
    ],
    [
      'money',
      {
        tier: { budget: { amount: 0.00118, per: 'day' } },
        code: 'budget_exceeded',
        message: /^The budget of the account is 0.00118/,
      },
    ],
  ] as const)(
    'that uses up the %s is refused with a time before any text, and ends with the error after it',
    async (_, { tier, code, message }) => {
      const price = { input_per_million: 1, output_per_million: 3 };
      const stage = await setStage(1, { plugins: [ChainPlugin], tiers: { free: tier }, price, currency: 'EUR' });
      stages.push(stage);
      const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 390 } });
      stage.provider.answers((call) => {
        call.head().text('Hello').finish().write(`data: ${usage}\n\n`).endMarker().end();
      });
      const refused = await stream(stage.origin, { key: stage.key, path: '/api/v1/stories' });
      expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
      const error = await refused.error();
      expect(error.code).toBe(code);
      expect(error.message).toMatch(message);
      expect(stage.provider.calls).toHaveLength(1);

      const { key } = await stage.service.createKey();
      const cut = await stream(stage.origin, { key, path: '/api/v1/stories?told=yes' });
      expect([cut.status, cut.raw]).toEqual([200, `Hello\n${code}\n`]);
    },
  );
});

describe('a completion of a job that the limits count', () => {
  const TIER = { requests_per_minute: 4, concurrent_streams: 1, tokens_per_day: 10_000 };
  const REQUEST = { model: MODEL, messages: [{ role: 'user' as const, content: 'Hello!' }], max_tokens: 100 };

  async function staged() {
    const stage = await setStage(1, { plugins: [TeamPlugin], tiers: { free: TIER } });
    stages.push(stage);
    const { key } = await stage.service.createKey({ email: 'ada@example.com' });
    const accounts = stage.service.app.get(AccountsService, { strict: false });
    const chat = stage.service.app.get(ChatService, { strict: false });
    const account = await accounts.findByEmail('ada@example.com');
    if (account === undefined) throw new Error('No account.');
    const credential = { kind: 'external', id: 'acme-job' } as const;
    const principal = { accountId: account.id, tier: accounts.tierOf(account), credential };
    const complete = (content = 'Hello!') =>
      chat.complete(
        { ...REQUEST, messages: [{ role: 'user', content }] },
        { principal, requestId: 'job-1', signal: new AbortController().signal, isLimited: true },
      );
    const ask = () => stream(stage.origin, { key, body: { model: MODEL, max_tokens: 100 } });
    return { ...stage, key, complete, ask };
  }

  it('counts as a request, and is refused with the time of a retry', async () => {
    const { provider, complete, ask } = await staged();
    const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } });
    provider.next((call) => {
      call.head().text('Hello').finish().write(`data: ${usage}\n\n`).endMarker().end();
    });
    expect((await complete()).text).toBe('Hello');
    const { headers } = await ask();
    expect([headers['x-ratelimit-remaining'], headers['x-ratelimit-remaining-team']]).toEqual(['2', '8']);
    // The prompt and the answer of the request are reserved.
    expect(Number(headers['x-ratelimit-remaining-tokens'])).toBeGreaterThan(10_000 - 12 - 2 * 100);
    expect(Number(headers['x-ratelimit-remaining-tokens'])).toBeLessThanOrEqual(10_000 - 12 - 100);

    await complete();
    await complete();
    const refusal: unknown = await complete().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ServiceError);
    expect(refusal).toMatchObject({
      code: 'rate_limit_exceeded',
      message: 'The tier allows 4 requests per minute. A minute begins with its first request.',
      retryAfterSeconds: expect.any(Number) as number,
    });
    expect((await ask()).status).toBe(429);
    expect(provider.calls).toHaveLength(4);
  });

  it('holds a slot until it is over, also if it fails', async () => {
    const { provider, complete, ask } = await staged();
    provider.next((call) => {
      call.head().text('Hel');
    });
    const failed = complete();
    failed.catch(() => undefined);
    const call = await provider.call(1);
    expect(await (await ask()).error()).toMatchObject({ code: 'concurrency_limit_exceeded' });
    await expect(complete()).rejects.toMatchObject({ code: 'concurrency_limit_exceeded', retryAfterSeconds: 1 });

    await call.cut();
    await expect(failed).rejects.toMatchObject({ code: 'upstream_error' });
    expect((await ask()).status).toBe(200);
  });

  it('is not counted when a hook refuses it', async () => {
    const { complete, ask } = await staged();
    await expect(complete('rude')).rejects.toMatchObject({ code: 'invalid_request' });
    expect((await ask()).headers['x-ratelimit-remaining']).toBe('3');
  });
});
