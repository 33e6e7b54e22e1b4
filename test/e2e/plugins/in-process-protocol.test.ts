import { Logger } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi, type Mock } from 'vitest';
import type { HttpProtocol } from '../../../src/upstreams/contract/protocol.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import { RouteStates } from '../../../src/upstreams/routing/route-states.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { Latch } from '../../support/latch.js';
import {
  COMPLETE,
  InProcessProvider,
  inProcessModels,
  text,
  type InProcessCall,
} from '../../support/in-process-provider.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { startService, type RunningService } from '../../support/service.js';
import { openStream, startStream, stream } from '../../support/sse-client.js';
import { standsStill, waitFor } from '../../support/wait-for.js';
import { wireOf } from '../../support/wire.js';

const NAMES = Array.from({ length: 40 }, (_, index) => `m${index}`);
const HASTY = { first_token_ms: 150, idle_ms: 150 };
const MIB = 1024 * 1024;

/** Faults of a protocol over HTTP, by the place in which they occur. */
type Fault = 'request' | 'later request' | 'open' | 'parts' | 'parts after text' | 'end' | 'failure';

class FaultyProtocol implements HttpProtocol {
  readonly transport = 'http';
  readonly name = 'faulty';
  fault: Fault = 'request';

  request(...[{ messages }, { baseUrl }]: Parameters<HttpProtocol['request']>) {
    if (this.fault === 'request') throw new TypeError('no request');
    if (this.fault === 'later request') return Promise.reject(new TypeError('no later request'));
    return { url: new URL('/', baseUrl), headers: {}, body: String(messages.length) };
  }

  open() {
    if (this.fault === 'open') throw new TypeError('no reader');
    return {
      parts: ({ data }: { readonly data: string }): readonly StreamPart[] => {
        if (this.fault === 'parts') throw new TypeError('no parts');
        if (data === 'more' && this.fault === 'parts after text') throw new TypeError('no more parts');
        return this.fault === 'end' ? [{ type: 'progress' }] : [text(data)];
      },
      end: (): readonly StreamPart[] => {
        if (this.fault === 'end') throw new TypeError('no end');
        return [COMPLETE];
      },
    };
  }

  failure(): undefined {
    if (this.fault === 'failure') throw new TypeError('no failure');
  }
}

describe('a protocol that answers in the process', () => {
  const protocol = new InProcessProvider();
  const faulty = new FaultyProtocol();
  const records: UsageRecord[] = [];
  const names = [...NAMES];
  let provider: ScriptedProvider;
  let service: RunningService;
  let key: string;
  let error: Mock;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    const long = inProcessModels(NAMES);
    const short = inProcessModels(
      NAMES.map((name) => `short-${name}`),
      HASTY,
    );
    const faultyModel = {
      ...{ id: 'acme/faulty', name: 'Faulty', provider: 'Acme', context_length: 8192 },
      routes: [
        { upstream: 'faulty', model: 'fast' },
        { upstream: 'm0-backup', model: 'fast' },
      ],
    };
    service = await startService({
      upstreams: {
        ...long.upstreams,
        ...short.upstreams,
        faulty: { protocol: 'faulty', base_url: provider.origin },
      },
      models: [...long.models, ...short.models, faultyModel],
      protocols: [protocol, faulty],
      records,
    });
    ({ key } = await service.createKey());
  });
  beforeEach(() => {
    protocol.calls.length = 0;
    records.length = 0;
    error = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined) as Mock;
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  /** An upstream, and its model, that no test has used yet. */
  const next = (kind: 'short' | 'long' = 'long'): string => {
    const name = names.shift() ?? '';
    return kind === 'short' ? `short-${name}` : name;
  };
  const asking = (name: string) => ({ key, body: { model: `acme/${name}` } });
  const upstreams = () => protocol.calls.map(({ upstream }) => upstream);
  const record = () => waitFor(() => records[0], 'the record');
  const call = (number = 1) => waitFor(() => protocol.calls[number - 1], `attempt ${number}`);

  /** Hangs until the signal aborts, and notes the end. */
  function hanging(...before: StreamPart[]) {
    const released = new Latch();
    async function* script({ signal }: InProcessCall): AsyncGenerator<StreamPart> {
      try {
        yield* before;
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(signal.reason as Error);
          });
        });
      } finally {
        released.open();
      }
    }
    return { script, released: released.opened };
  }

  /** Never ends, whatever the signal says. */
  async function* deaf(...before: StreamPart[]): AsyncGenerator<StreamPart> {
    yield* before;
    await new Promise(() => undefined);
  }

  it.each(['a model that ends with its signal', 'a model that ignores its signal'])(
    'times out before the first text, and the next route answers: %s',
    async (what) => {
      const name = next('short');
      const { script } = hanging();
      protocol.answers(name, what.includes('ignores') ? () => deaf() : script);

      expect(await wireOf(await openStream(service.origin, asking(name)))).toMatchObject({
        text: `${name}-backup`,
        terminal: 'done',
      });
      expect(upstreams()).toEqual([name, `${name}-backup`]);
      expect(await record()).toMatchObject({ outcome: 'completed', upstream: `${name}-backup` });
      expect((await record()).attempts.map(({ code }) => code)).toEqual(['upstream_timeout', undefined]);
    },
  );

  it('times out after the first text', async () => {
    const name = next('short');
    const { script, released } = hanging(text('Hi'));
    protocol.answers(name, script);

    expect(await wireOf(await openStream(service.origin, asking(name)))).toMatchObject({
      text: 'Hi',
      terminal: 'upstream_timeout',
    });
    expect(upstreams()).toEqual([name]);
    await released;
    expect((await call()).signal.reason).toMatchObject({ code: 'upstream_timeout' });
    expect(await record()).toMatchObject({ outcome: 'timed_out', errorCode: 'upstream_timeout' });
  });

  it('releases what it holds, and its signal aborts, when the client leaves before the first text', async () => {
    const name = next();
    const { script, released } = hanging();
    protocol.answers(name, script);
    const pending = startStream(service.origin, asking(name));
    const { signal } = await call();

    pending.leave();

    await released;
    expect(signal.aborted).toBe(true);
    expect(upstreams()).toEqual([name]);
    expect(await record()).toMatchObject({ outcome: 'client_gone' });
  });

  it('releases what it holds when the client leaves between two parts', async () => {
    const name = next();
    const released = new Latch();
    const more = new Latch();
    protocol.answers(name, async function* () {
      try {
        yield text('Hi');
        await more.opened;
        for (;;) {
          await new Promise(setImmediate);
          yield text('x'.repeat(64 * 1024));
        }
      } finally {
        released.open();
      }
    });
    const answer = await openStream(service.origin, asking(name));
    await answer.block(1);
    answer.pause();
    more.open();
    answer.leave();

    await released.opened;
  });

  it('releases what it holds, and its signal aborts, after a complete answer', async () => {
    const name = next();
    const released = new Latch();
    protocol.answers(name, async function* () {
      try {
        await Promise.resolve();
        yield text('Hi');
        yield COMPLETE;
        yield text('too late');
      } finally {
        released.open();
      }
    });

    expect(await wireOf(await openStream(service.origin, asking(name)))).toMatchObject({
      text: 'Hi',
      terminal: 'done',
    });
    await released.opened;
    const { signal } = await call();
    expect(signal.aborted).toBe(true);
    expect(await record()).toMatchObject({ outcome: 'completed' });
  });

  it('releases what it holds, and its signal aborts, when it reports a failure', async () => {
    const name = next();
    const released = new Latch();
    protocol.answers(name, async function* ({ context }) {
      try {
        await Promise.resolve();
        yield text('Hi');
        yield { type: 'finish', reason: 'content_filter', raw: context.requestId };
        yield COMPLETE;
      } finally {
        released.open();
      }
    });

    expect(await wireOf(await openStream(service.origin, asking(name)))).toMatchObject({
      text: 'Hi',
      terminal: 'content_filtered',
    });
    await released.opened;
    expect((await call()).signal.reason).toMatchObject({ code: 'content_filtered' });
  });

  it('closes an iterator of its own exactly once, and not at all after its end', async () => {
    const [timingOut, ending] = [next('short'), next()];
    let [returns, lateReturns] = [0, 0];
    protocol.answers(timingOut, () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: () => Promise.resolve({ done: true as const, value: ++returns }),
      }),
    }));
    const parts = [text('Hi'), { type: 'complete', last: false } as const];
    protocol.answers(ending, () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const value = parts.shift();
          return Promise.resolve(value ? { value } : { done: true as const, value });
        },
        return: () => Promise.resolve({ done: true as const, value: ++lateReturns }),
      }),
    }));

    expect(await wireOf(await openStream(service.origin, asking(timingOut)))).toMatchObject({ terminal: 'done' });
    expect(await wireOf(await openStream(service.origin, asking(ending)))).toMatchObject({ terminal: 'done' });
    expect([returns, lateReturns]).toEqual([1, 0]);
  });

  it('fails when it ends without a complete answer', async () => {
    const name = next();
    protocol.answers(name, async function* () {
      await Promise.resolve();
      yield text('Hi');
    });
    expect(await wireOf(await openStream(service.origin, asking(name)))).toMatchObject({
      text: 'Hi',
      terminal: 'upstream_error',
    });
  });

  it('waits for a client that does not read, and then sends the whole text', async () => {
    const name = next();
    const piece = 'x'.repeat(64 * 1024);
    const pieces = 640;
    let asked = 0;
    protocol.answers(name, async function* () {
      while (asked < pieces) {
        await new Promise(setImmediate);
        asked += 1;
        yield text(piece);
      }
      yield COMPLETE;
    });
    const answer = await openStream(service.origin, asking(name));
    answer.pause();

    expect((await standsStill(() => asked, 300)) * piece.length).toBeLessThan(20 * MIB);

    answer.resume();
    const wire = await wireOf(answer);
    expect(wire.terminal).toBe('done');
    expect(wire.text.length).toBe(pieces * piece.length);
  });

  it('is pulled one part after the other', async () => {
    const name = next();
    let [running, most] = [0, 0];
    const parts = Array.from({ length: 50 }, (_, index) => text(`${index} `));
    protocol.answers(name, () => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          most = Math.max(most, ++running);
          await new Promise(setImmediate);
          running -= 1;
          return { value: parts.shift() ?? COMPLETE };
        },
      }),
    }));
    expect(await wireOf(await openStream(service.origin, asking(name)))).toMatchObject({ terminal: 'done' });
    expect(most).toBe(1);
  });

  describe('or over HTTP, with a fault of its own', () => {
    /** What the log says of internal errors: the request id of each. */
    const logged = () =>
      error.mock.calls.map(([entry]) => entry as { code: string; requestId: string; reason: string });

    /** Nothing of the provider has failed, so everything is tried as before. */
    function expectNoPause(upstream: string): void {
      for (const one of service.app.get(RouteStates, { strict: false }).all()) {
        if (one.upstream === upstream) expect(one.breaker).toMatchObject({ state: 'closed', waitMs: 0 });
      }
    }

    it.each<[Fault, string]>([
      ['request', 'no request'],
      ['later request', 'no later request'],
      ['open', 'no reader'],
      ['parts', 'no parts'],
      ['end', 'no end'],
      ['failure', 'no failure'],
    ])('answers 500 for a TypeError in %s, logs it once, and tries no other route', async (fault, reason) => {
      faulty.fault = fault;
      provider.answers((one) => {
        if (fault === 'failure') one.refuse(500);
        else one.head().write('data: Hi\n\n').end();
      });
      for (let count = 1; count <= 6; count++) {
        error.mockClear();
        records.length = 0;
        const answer = await stream(service.origin, asking('faulty'));
        expect(answer.status).toBe(500);
        const { code, request_id: requestId } = await answer.error();
        expect(code).toBe('internal_error');
        expect(logged()).toMatchObject([{ code: 'internal_error', requestId, reason }]);
        expect(await record()).toMatchObject({ outcome: 'failed', errorCode: 'internal_error', upstream: 'faulty' });
      }
      expect(protocol.calls).toEqual([]);
      expectNoPause('faulty');
    });

    it('sends an error event for a TypeError after text, and logs it once with the request id', async () => {
      faulty.fault = 'parts after text';
      const seen = new Latch();
      provider.answers(async (one) => {
        one.head().write('data: Hi\n\n');
        await seen.opened;
        one.write('data: more\n\n');
      });
      const answer = await openStream(service.origin, asking('faulty'));
      await answer.block(1);
      seen.open();

      expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'internal_error' });
      expect(logged()).toMatchObject([
        { code: 'internal_error', requestId: answer.headers['x-request-id'], reason: 'no more parts' },
      ]);
      expect(await record()).toMatchObject({ outcome: 'failed', errorCode: 'internal_error' });
      expectNoPause('faulty');
    });

    it.each([
      [
        'at once',
        () => {
          throw new TypeError('no stream');
        },
      ],
      ['before a part', () => deafAfter(new TypeError('no stream'))],
    ])('answers 500 for a TypeError in stream %s', async (_, script) => {
      const name = next();
      protocol.answers(name, script);
      const answer = await stream(service.origin, asking(name));
      expect(answer.status).toBe(500);
      expect(logged()).toMatchObject([{ code: 'internal_error', reason: 'no stream' }]);
      expect(upstreams()).toEqual([name]);
      expect(await record()).toMatchObject({ outcome: 'failed', errorCode: 'internal_error' });
      expectNoPause(name);
    });
  });
});

async function* deafAfter(error: Error): AsyncGenerator<StreamPart> {
  await Promise.resolve();
  throw error;
}
