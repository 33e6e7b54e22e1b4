import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { RouteConfig } from '../../../../src/platform/config/config.js';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import type { Attempt, AttemptTracer } from '../../../../src/upstreams/completion/attempt.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import type { CompletionPart } from '../../../../src/upstreams/contract/stream-part.js';
import type { AttemptFactory } from '../../../../src/upstreams/routing/attempt-factory.js';
import { FailoverStream, type RoutedCompletion } from '../../../../src/upstreams/routing/failover-stream.js';

const HEL: CompletionPart = { type: 'text', text: 'Hel' };
const USAGE: CompletionPart = { type: 'usage', usage: { inputTokens: 3 } };
const FAILED = providerFailure('upstream_error', 'HTTP 500');
const STOPPED = new ServiceError('shutting_down', 'Stop.');

/** An attempt whose parts the test decides. */
class FakeAttempt {
  readonly isAccepted = true;
  isOver = false;
  readonly stop = vi.fn<(reason: Error) => void>();
  private readonly queued: (CompletionPart | Error | 'end')[] = [];

  constructor(private readonly onChange: () => void) {}

  sends(...parts: (CompletionPart | Error | 'end')[]): void {
    this.queued.push(...parts);
    this.onChange();
  }

  read(): CompletionPart | undefined {
    const part = this.queued.shift();
    if (part instanceof Error || part === 'end') this.isOver = true;
    if (part instanceof Error) throw part;
    return part === 'end' ? undefined : part;
  }
}

const place = new AsyncLocalStorage<string>();
let attempts: FakeAttempt[];
/** Where the attempts have begun. */
let places: (string | undefined)[];
let onOver: ReturnType<typeof vi.fn<(failure?: unknown) => void>>;
let onReadable: ReturnType<typeof vi.fn<() => void>>;

function open(tracer?: AttemptTracer): FailoverStream {
  const begin: AttemptFactory['begin'] = (_, _route, onChange) => {
    places.push(place.getStore());
    const attempt = new FakeAttempt(onChange);
    attempts.push(attempt);
    return attempt as unknown as Attempt;
  };
  const routes = ['a', 'b', 'c'].map((model) => ({ model }) as RouteConfig);
  const completion = new FailoverStream({} as RoutedCompletion, routes.values(), { begin, tracer }, onOver);
  completion.onReadable = onReadable;
  return completion;
}

beforeEach(() => {
  [attempts, places] = [[], []];
  [onOver, onReadable] = [vi.fn<(failure?: unknown) => void>(), vi.fn<() => void>()];
});

it('the next route is tried in the context of the request when this is traced, also in a callback of a connection', () => {
  place.run('in the request', () => {
    open({} as AttemptTracer);
  });
  place.run('in the connection', () => {
    attempts[0]?.sends(FAILED);
  });
  expect(places).toEqual(['in the request', 'in the request']);
});

describe('a completion that is stopped', () => {
  it('after its first text returns the text that arrived with it, and then the reason', () => {
    const completion = open();
    attempts[0]?.sends(USAGE, HEL, HEL);
    completion.stop(STOPPED);
    expect([completion.read(), completion.read()]).toEqual([USAGE, HEL]);
    expect(() => completion.read()).toThrow(STOPPED);
    expect([completion.read(), completion.isOver, completion.isComplete]).toEqual([undefined, true, false]);
  });

  it('twice, or after its end, is stopped once', () => {
    const stopped = open();
    stopped.stop(STOPPED);
    stopped.stop(FAILED);
    void stopped.return();
    expect([attempts[0]?.stop.mock.calls, onOver.mock.calls]).toEqual([[[STOPPED]], [[STOPPED]]]);
    expect(onReadable).toHaveBeenCalledTimes(1);

    const complete = open();
    attempts[1]?.sends(HEL, 'end');
    while (complete.read() !== undefined);
    complete.stop(FAILED);
    void complete.return();
    expect([attempts[1]?.stop.mock.calls, onOver.mock.lastCall, complete.isComplete]).toEqual([[], [undefined], true]);
  });
});
