import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { RouteConfig } from '../../../../src/platform/config/config.js';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import type { Attempt, AttemptTracer } from '../../../../src/upstreams/completion/attempt.js';
import { CLIENT_GONE } from '../../../../src/upstreams/completion/part-stream.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import type { CompletionPart } from '../../../../src/upstreams/contract/stream-part.js';
import type { AttemptFactory } from '../../../../src/upstreams/routing/attempt-factory.js';
import { FailoverStream } from '../../../../src/upstreams/routing/failover-stream.js';
import type { RoutedCompletion } from '../../../../src/upstreams/routing/routed-completion.js';

const HEL: CompletionPart = { type: 'text', text: 'Hel' };
const LO: CompletionPart = { type: 'text', text: 'lo' };
const HM: CompletionPart = { type: 'reasoning', text: 'hm' };
const USAGE: CompletionPart = { type: 'usage', usage: { inputTokens: 3 } };
const FAILED = providerFailure('upstream_error', 'HTTP 500');
const REJECTED = providerFailure('upstream_rejected', 'HTTP 400');
const STOPPED = new ServiceError('shutting_down', 'Stop.');

/** An attempt whose parts and end the test decides. */
class FakeAttempt {
  isAccepted = false;
  isOver = false;
  isWhole = false;
  readonly stopped: Error[] = [];
  private readonly queued: (CompletionPart | Error)[] = [];

  constructor(private readonly onChange: () => void) {}

  sends(...parts: (CompletionPart | Error)[]): void {
    this.isAccepted = true;
    this.queued.push(...parts);
    this.onChange();
  }

  ends(): void {
    this.queued.push({ type: 'end' } as never);
    this.onChange();
  }

  read(): CompletionPart | undefined {
    if (this.isOver) return undefined;
    const part = this.queued.shift();
    if (part instanceof Error) {
      this.isOver = true;
      throw part;
    }
    if ((part as { type: string } | undefined)?.type !== 'end') return part;
    this.isOver = true;
    return undefined;
  }

  stop(reason: Error): void {
    this.stopped.push(reason);
  }
}

const ROUTES = ['a', 'b', 'c'].map((model) => ({ model }) as RouteConfig);

const COMPLETION = {} as RoutedCompletion;

let attempts: FakeAttempt[];
let tried: string[];
let onOver: ReturnType<typeof vi.fn<(failure?: unknown) => void>>;
let onReadable: ReturnType<typeof vi.fn<() => void>>;
let completion: FailoverStream;

/** @param first what the first attempt has sent when it begins. */
function open(
  routes: Iterator<RouteConfig> = ROUTES[Symbol.iterator](),
  prepare: (attempt: FakeAttempt) => void = () => undefined,
): void {
  const begin: AttemptFactory['begin'] = (_, route, onChange) => {
    tried.push(route.model);
    const attempt = new FakeAttempt(onChange);
    prepare(attempt);
    attempts.push(attempt);
    return attempt as unknown as Attempt;
  };
  completion = new FailoverStream(COMPLETION, routes, { begin, tracer: undefined }, onOver);
  completion.onReadable = onReadable;
}
const attempt = (index: number): FakeAttempt => {
  const found = attempts[index];
  if (found === undefined) throw new Error(`There is no attempt ${index}.`);
  return found;
};
/** What can be read now. */
function readAll(): CompletionPart[] {
  const parts: CompletionPart[] = [];
  for (let part = completion.read(); part !== undefined; part = completion.read()) parts.push(part);
  return parts;
}
const isSettled = async (promise: Promise<void>) =>
  Promise.race([promise.then(() => 'resolved'), new Promise((resolve) => setImmediate(resolve, 'pending'))]);

beforeEach(() => {
  [attempts, tried] = [[], []];
  [onOver, onReadable] = [vi.fn<(failure?: unknown) => void>(), vi.fn<() => void>()];
});

describe('a completion', () => {
  it('returns what its route sends, with the parts before the first text, and ends with it', async () => {
    open();
    attempt(0).sends(USAGE);
    expect([completion.read(), onReadable.mock.calls.length, await isSettled(completion.started)]).toEqual([
      undefined,
      0,
      'pending',
    ]);
    attempt(0).sends(HEL);
    expect([onReadable.mock.calls.length, await isSettled(completion.started)]).toEqual([1, 'resolved']);
    attempt(0).sends(LO);
    expect(readAll()).toEqual([USAGE, HEL, LO]);
    expect([completion.isOver, completion.isComplete]).toEqual([false, false]);
    attempt(0).ends();
    expect(readAll()).toEqual([]);
    expect([completion.isOver, completion.isComplete, onOver.mock.calls]).toEqual([true, true, [[undefined]]]);
    expect(tried).toEqual(['a']);
  });

  it('begins with reasoning, and with an answer that has no text', async () => {
    open();
    attempt(0).sends(HM);
    expect([await isSettled(completion.started), readAll()]).toEqual(['resolved', [HM]]);

    open();
    attempt(1).ends();
    expect([await isSettled(completion.started), readAll()]).toEqual(['resolved', []]);
    expect([completion.isOver, completion.isComplete, onOver.mock.calls]).toEqual([true, true, [[undefined]]]);
  });

  it('is over only when all of it is read', () => {
    open(undefined, (first) => {
      first.sends(USAGE, HEL);
      first.ends();
    });
    expect(completion.isOver).toBe(false);
    expect(readAll()).toEqual([USAGE, HEL]);
    expect(completion.isOver).toBe(true);
  });

  it('is whole when its attempt is', () => {
    open();
    expect(completion.isWhole).toBe(false);
    attempt(0).isWhole = true;
    expect(completion.isWhole).toBe(true);
  });

  it('can be iterated', async () => {
    open();
    setImmediate(() => {
      attempt(0).sends(HEL, LO);
      attempt(0).ends();
    });
    const parts: CompletionPart[] = [];
    for await (const part of completion) parts.push(part);
    expect(parts).toEqual([HEL, LO]);
  });
});

describe('a route that fails before its first text', () => {
  it('is followed in the context of the request when this is traced, also in a callback of a connection', () => {
    const place = new AsyncLocalStorage<string>();
    const places: (string | undefined)[] = [];
    const begin: AttemptFactory['begin'] = (_, _route, onChange) => {
      places.push(place.getStore());
      attempts.push(new FakeAttempt(onChange));
      return attempts.at(-1) as unknown as Attempt;
    };
    place.run('in the request', () => {
      new FailoverStream(COMPLETION, ROUTES[Symbol.iterator](), { begin, tracer: {} as AttemptTracer }, onOver);
    });
    place.run('in the connection', () => {
      attempt(0).sends(FAILED);
    });
    expect(places).toEqual(['in the request', 'in the request']);
  });

  it('is replaced by the next route, and nothing that it has sent is returned', async () => {
    open();
    attempt(0).sends(USAGE, FAILED);
    expect([tried, onReadable.mock.calls.length, await isSettled(completion.started)]).toEqual([
      ['a', 'b'],
      0,
      'pending',
    ]);
    attempt(1).sends(HEL);
    expect(readAll()).toEqual([HEL]);
    attempt(0).sends(LO);
    expect(readAll()).toEqual([]);
    expect(onOver).not.toHaveBeenCalled();
  });

  it('as the last one is the failure of the completion, thrown once', async () => {
    open([ROUTES[0] as RouteConfig].values());
    attempt(0).sends(FAILED);
    await expect(completion.started).rejects.toBe(FAILED);
    expect([onReadable.mock.calls.length, completion.isOver]).toEqual([1, false]);
    expect(() => completion.read()).toThrow(FAILED);
    expect([completion.read(), completion.isOver, completion.isComplete]).toEqual([undefined, true, false]);
    expect(onOver.mock.calls).toEqual([[FAILED]]);
  });

  it.each([REJECTED, new ServiceError('internal_error', 'A bug.')])(
    'with $code is not repeated at another route',
    async (failure) => {
      open();
      attempt(0).sends(failure);
      await expect(completion.started).rejects.toBe(failure);
      expect([tried, onOver.mock.calls]).toEqual([['a'], [[failure]]]);
    },
  );
});

describe('a completion that cannot begin', () => {
  it.each([
    ['no route', [][Symbol.iterator](), 'The model has no route.'],
    [
      'routes that are all unavailable',
      {
        next: () => {
          throw new ServiceError('upstream_unavailable', 'All are unavailable.');
        },
      },
      'All are unavailable.',
    ],
  ])('with %s fails', async (_, routes, reason) => {
    open(routes as Iterator<RouteConfig>);
    const failure = await completion.started.catch((error: unknown) => error as ServiceError);
    expect(failure).toBeInstanceOf(ServiceError);
    expect((failure as ServiceError).cause ?? failure).toMatchObject({ message: reason });
    expect(onOver.mock.calls).toEqual([[failure]]);
    expect(completion.isWhole).toBe(false);
    expect(() => completion.read()).toThrow(failure);
    expect([completion.read(), completion.isOver]).toEqual([undefined, true]);
  });

  it('because an attempt cannot begin is an internal error', async () => {
    const bug = new TypeError('a bug');
    const begin = () => {
      throw bug;
    };
    completion = new FailoverStream(COMPLETION, ROUTES[Symbol.iterator](), { begin, tracer: undefined }, onOver);
    await expect(completion.started).rejects.toMatchObject({ code: 'internal_error', cause: bug });
    expect(onOver).toHaveBeenCalledOnce();
  });
});

describe('a route that fails after its first text', () => {
  it('is the failure of the completion, after its text', () => {
    open();
    attempt(0).sends(HEL, FAILED);
    expect(completion.read()).toEqual(HEL);
    expect(() => completion.read()).toThrow(FAILED);
    expect([completion.read(), completion.isOver, tried, onOver.mock.calls]).toEqual([
      undefined,
      true,
      ['a'],
      [[FAILED]],
    ]);
  });
});

describe('a completion that is stopped', () => {
  it('before its first text stops its attempt, and fails with the reason', async () => {
    open();
    attempt(0).sends(USAGE);
    completion.stop(STOPPED);
    await expect(completion.started).rejects.toBe(STOPPED);
    expect([attempt(0).stopped, onOver.mock.calls, onReadable.mock.calls.length]).toEqual([[STOPPED], [[STOPPED]], 1]);
    expect(() => completion.read()).toThrow(STOPPED);
    attempt(0).sends(HEL);
    expect([readAll(), tried]).toEqual([[], ['a']]);
  });

  it('after its first text returns the text that arrived with it, and then the reason', () => {
    open();
    attempt(0).sends(USAGE, HEL, LO);
    completion.stop(STOPPED);
    expect([completion.read(), completion.read()]).toEqual([USAGE, HEL]);
    expect(() => completion.read()).toThrow(STOPPED);
    expect([completion.read(), completion.isOver, completion.isComplete]).toEqual([undefined, true, false]);
  });

  it('twice, or after its end, is stopped once', () => {
    open();
    completion.stop(STOPPED);
    completion.stop(FAILED);
    void completion.return();
    expect([attempt(0).stopped, onOver.mock.calls, onReadable.mock.calls.length]).toEqual([[STOPPED], [[STOPPED]], 1]);

    open(undefined, (first) => {
      first.sends(HEL);
      first.ends();
    });
    readAll();
    completion.stop(FAILED);
    expect([attempt(1).stopped, onOver.mock.lastCall, completion.isComplete]).toEqual([[], [undefined], true]);
  });
});

describe('a reader that leaves', () => {
  it('stops the attempt, and reads nothing more', async () => {
    open();
    attempt(0).sends(USAGE, HEL, LO);
    expect(await completion.return()).toEqual({ done: true, value: undefined });
    expect([attempt(0).stopped, onOver.mock.calls, readAll(), completion.isOver]).toEqual([
      [CLIENT_GONE],
      [[CLIENT_GONE]],
      [],
      true,
    ]);
    await completion.return();
    expect([attempt(0).stopped.length, onOver.mock.calls.length]).toEqual([1, 1]);
  });

  it('after the end changes nothing', async () => {
    open(undefined, (first) => {
      first.sends(HEL);
      first.ends();
    });
    readAll();
    await completion.return();
    expect([attempt(0).stopped, onOver.mock.calls, completion.isComplete]).toEqual([[], [[undefined]], true]);
  });
});
