import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  providerFailure,
  streamHeaders,
  type AnswerReader,
  type CallContext,
  type ChatCall,
  type HttpProtocol,
  type ServiceError,
  type StreamPart,
  type UpstreamConfig,
  type UpstreamRequest,
} from '../../../src/index.js';
import type { ResponseHeaders, Decoder } from '../../../src/upstreams/contract/protocol.js';
import { configFor, createTestService, openAi, TEST_MODEL, type Dialect } from '../../../src/testing.js';
import { ScriptedProvider, type Script } from '../../../src/testing/provider/scripted-provider.js';
import { refusing } from '../../support/scripts.js';
import { startService, type RunningService } from '../../support/service.js';
import { closedPort } from '../../support/silent-server.js';
import { openStream, startStream, stream } from '../../support/sse-client.js';
import { waitFor } from '../../support/wait-for.js';
import { readWire, wireOf } from '../../support/wire.js';

type Frame = Buffer;
type Prepare = (context: CallContext, upstream: UpstreamConfig) => Promise<string>;

/**
 * A provider with binary frames: each is one byte with the length of the text, and the text. The answer has no end marker,
 * and begins with the number of its frames.
 */
class FramesProtocol implements HttpProtocol<unknown, Frame> {
  readonly transport = 'http';
  readonly name = 'frames';
  readonly contexts: CallContext[] = [];
  readonly failures: [number, ResponseHeaders, string][] = [];
  ends = 0;
  /** Returns the token for the request. */
  prepare: Prepare = () => Promise.resolve('no token');
  mapFailure: (status: number) => ServiceError | undefined = () => undefined;

  readonly framing = (onEvent: (event: Frame) => void): Decoder => {
    let waiting = Buffer.alloc(0);
    return {
      write(bytes) {
        waiting = Buffer.concat([waiting, bytes]);
        while (waiting.length > (waiting[0] ?? Infinity)) {
          const end = 1 + (waiting[0] ?? 0);
          onEvent(waiting.subarray(1, end));
          waiting = waiting.subarray(end);
        }
      },
      end: () => undefined,
    };
  };

  async request(_: ChatCall, upstream: UpstreamConfig, context: CallContext): Promise<UpstreamRequest> {
    this.contexts.push(context);
    const token = await this.prepare(context, upstream);
    return {
      url: new URL('/frames', upstream.baseUrl),
      headers: streamHeaders({ authorization: token }, upstream),
      body: '{}',
    };
  }

  open(): AnswerReader<Frame> {
    let expected: number | undefined;
    let count = 0;
    return {
      parts(frame): readonly StreamPart[] {
        if (expected !== undefined) {
          count += 1;
          return [{ type: 'text', text: frame.toString() }];
        }
        expected = Number(frame.toString());
        return [{ type: 'progress' }];
      },
      end: (): readonly StreamPart[] => {
        this.ends += 1;
        return count === expected ? [{ type: 'complete', last: true }] : [];
      },
    };
  }

  failure(status: number, headers: ResponseHeaders, body: string): ServiceError | undefined {
    this.failures.push([status, headers, body]);
    return this.mapFailure(status);
  }
}

function frames(...texts: readonly string[]): Buffer {
  return Buffer.concat(
    [String(texts.length), ...texts].map((text) => {
      const bytes = Buffer.from(text);
      return Buffer.concat([Buffer.of(bytes.length), bytes]);
    }),
  );
}

interface Kind {
  /** Whether the first text must arrive within 150 ms. */
  readonly isHasty?: boolean;
  /** Whether a usual provider answers if the protocol fails. */
  readonly hasBackup?: boolean;
}

const KINDS: readonly Kind[] = [{}, { isHasty: true }, { hasBackup: true }, { isHasty: true, hasBackup: true }];
const MODELS_OF_A_KIND = 12;
const MODELS = KINDS.flatMap(({ isHasty = false, hasBackup = false }, kind) =>
  Array.from({ length: MODELS_OF_A_KIND }, (_, index) => ({ name: `frames-${kind}-${index}`, isHasty, hasBackup })),
);

const protocol = new FramesProtocol();
let provider: ScriptedProvider;
let backup: ScriptedProvider;
let service: RunningService;
let key: string;
let unused: typeof MODELS;

beforeAll(async () => {
  [provider, backup] = await Promise.all([ScriptedProvider.start(), ScriptedProvider.start()]);
});
beforeEach(() => {
  Object.assign(protocol, new FramesProtocol());
  for (const { calls } of [provider, backup]) calls.length = 0;
});
afterAll(() => Promise.all([provider.stop(), backup.stop()]));

async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
  unused = [...MODELS];
  const upstreams = MODELS.map(({ name, isHasty }): [string, object] => [
    name,
    { protocol: 'frames', base_url: provider.origin, timeouts: isHasty ? { first_token_ms: 150 } : {} },
  ]);
  service = await startService({
    upstreams: { ...Object.fromEntries(upstreams), backup: { protocol: 'openai', base_url: backup.origin } },
    models: MODELS.map(({ name, hasBackup }) => ({
      ...{ id: `acme/${name}`, name, provider: 'Acme', context_length: 8192 },
      routes: (hasBackup ? [name, 'backup'] : [name]).map((upstream) => ({ upstream, model: 'fast' })),
    })),
    protocols: [protocol],
    env,
  });
  ({ key } = await service.createKey());
}

/** Takes a model whose route to the protocol no test has used. */
function next({ isHasty = false, hasBackup = false }: Kind = {}): string {
  const index = unused.findIndex((model) => model.isHasty === isHasty && model.hasBackup === hasBackup);
  return `acme/${unused.splice(index, 1)[0]?.name}`;
}

const ask = async (model: string) => openStream(service.origin, { key, body: { model } });
const paths = () => provider.calls.map(({ path }) => path);
const answering =
  (...texts: string[]): Script =>
  (call) => {
    call
      .head(200, { 'content-type': 'application/octet-stream' })
      .write(frames(...texts))
      .end();
  };
/** The token of the endpoint `/token` of the provider. */
const fetchToken: Prepare = async ({ fetch }, { baseUrl }) => {
  const response = await fetch(new URL('/token', baseUrl), { method: 'POST' });
  return ((await response.json()) as { token: string }).token;
};
const withToken =
  (script: Script): Script =>
  (call) => {
    if (call.path !== '/token') return script(call);
    call.head(200, { 'content-type': 'application/json' }).write('{"token":"token-1"}').end();
  };

describe('a protocol of a team over HTTP', () => {
  beforeAll(() => start());
  afterAll(() => service.stop());

  it('may have a framing of its own, with state for each stream, wherever the bytes are split', async () => {
    const model = next();
    provider.answers(async (call) => {
      call.head();
      for (const byte of frames('Hé', 'llo', ' 🦜')) {
        call.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      call.end();
    });
    const answers = await Promise.all([ask(model), ask(model)]);
    for (const answer of answers) expect(await wireOf(answer)).toMatchObject({ text: 'Héllo 🦜', terminal: 'done' });
    expect(protocol.ends).toBe(2);
  });

  it('is notified of the end of the body, which may complete the answer or not', async () => {
    const model = next();
    provider.next((call) => {
      call.head().write(frames('Hi', 'there').subarray(0, 5)).end();
    });
    expect(await wireOf(await ask(model))).toMatchObject({ text: 'Hi', terminal: 'upstream_error' });
    expect(protocol.ends).toBe(1);
  });

  it('is notified of no end of a body that breaks off', async () => {
    const model = next();
    provider.next((call) => call.head().write(frames('Hi')).cut());
    await (
      await ask(model)
    ).over;
    expect(protocol.ends).toBe(0);
  });

  it('gets the ids of the request and of the account, and a signal that aborts at the end', async () => {
    const model = next();
    provider.answers(answering('Hi'));
    let signal: AbortSignal | undefined;
    protocol.prepare = (context) => {
      ({ signal } = context);
      return Promise.resolve('token');
    };
    const answer = await ask(model);
    await answer.over;
    expect(protocol.contexts).toMatchObject([{ requestId: answer.headers['x-request-id'] }]);
    expect(protocol.contexts[0]?.accountId).toMatch(/./);
    expect(signal?.aborted).toBe(true);
  });

  it.each<[string, Prepare]>([
    ['never creates its request', () => new Promise(() => undefined)],
    ['waits for a token', fetchToken],
  ])('times out when it %s, and the next route answers', async (_, prepare) => {
    const model = next({ isHasty: true, hasBackup: true });
    provider.answers(() => undefined);
    protocol.prepare = prepare;
    expect(await wireOf(await ask(model))).toMatchObject({ text: 'Hello world', terminal: 'done' });
    for (const call of provider.calls) {
      expect(call.path).toBe('/token');
      await call.over;
      expect(call.abortedAt).toBeDefined();
    }
    expect(protocol.contexts[0]?.signal.reason).toMatchObject({ code: 'upstream_timeout' });
  });

  it('answers 504 when it never creates its request and there is no other route', async () => {
    const model = next({ isHasty: true });
    protocol.prepare = () => new Promise(() => undefined);
    const answer = await stream(service.origin, { key, body: { model } });
    expect([answer.status, (await answer.error()).code]).toEqual([504, 'upstream_timeout']);
  });

  it('sends nothing more when the client leaves while it waits for a token', async () => {
    const model = next();
    let ended = false;
    protocol.prepare = async (...args) => {
      // Goes on although the client has left.
      await fetchToken(...args).catch(() => undefined);
      ended = true;
      return 'token';
    };
    provider.answers(() => undefined);
    const pending = startStream(service.origin, { key, body: { model } });
    const call = await provider.call(1);

    pending.leave();

    await call.over;
    expect(call.abortedAt).toBeDefined();
    await waitFor(() => ended, 'the request to be created');
    await new Promise(setImmediate);
    expect(paths()).toEqual(['/token']);
    expect(protocol.contexts[0]?.signal.aborted).toBe(true);
  });

  it.each(['refuses the connection', 'breaks off its answer'])(
    'fails like its provider when the server of its tokens %s',
    async (what) => {
      const model = next({ hasBackup: true });
      const port = await closedPort();
      provider.answers((call) => call.head().write('{"to').cut());
      protocol.prepare = what.includes('refuses')
        ? async ({ fetch }) => (await fetch(`http://127.0.0.1:${port}/token`)).text()
        : fetchToken;
      expect(await wireOf(await ask(model))).toMatchObject({ text: 'Hello world', terminal: 'done' });
      expect(backup.calls).toHaveLength(1);
    },
  );

  it('may map a refusal to an error of its own, from the status, the headers and the text of the body', async () => {
    const model = next({ hasBackup: true });
    const body = '{"reason":"clé invalide 🦜"}';
    provider.answers(refusing(400, { 'X-Reason': 'key' }, body));
    protocol.mapFailure = () => providerFailure('upstream_error', 'a bad key', { scope: 'upstream' });

    expect(await wireOf(await ask(model))).toMatchObject({ text: 'Hello world', terminal: 'done' });
    expect(protocol.failures).toEqual([[400, expect.objectContaining({ 'x-reason': 'key' }), body]]);
  });

  it('gets the beginning of a long refusal', async () => {
    const model = next({ hasBackup: true });
    provider.answers(refusing(500, {}, 'x'.repeat(1_000_000)));
    await (
      await ask(model)
    ).over;
    expect(protocol.failures.map(([, , body]) => body.length)).toEqual([256 * 1024]);
  });

  it.each([
    [400, 400, 'upstream_rejected'],
    [429, 503, 'upstream_unavailable'],
    [500, 502, 'upstream_error'],
  ])('leaves status %d to the service when it returns no error', async (sent, status, code) => {
    const model = next();
    provider.answers(refusing(sent, { 'retry-after': '7' }));
    const answer = await stream(service.origin, { key, body: { model } });
    expect(answer.status).toBe(status);
    expect((await answer.error()).code).toBe(code);
    expect(answer.headers['retry-after']).toBe(sent === 429 ? '7' : undefined);
    expect(protocol.failures).toHaveLength(1);
  });
});

describe('a protocol of a team over few connections', () => {
  afterEach(() => service.stop());

  it('may fetch a token before its request, and each connection is used again or released', async () => {
    // There is only one connection, for the tokens and for the answers.
    await start({ MAX_STREAMS: '1' });
    const model = next();
    protocol.prepare = fetchToken;
    provider.answers(withToken(answering('Hi')));
    for (let count = 0; count < 4; count++) {
      expect(await wireOf(await ask(model))).toMatchObject({ text: 'Hi', terminal: 'done' });
      await service.leftovers.none();
    }
    expect(paths()).toEqual(Array.from({ length: 4 }, () => ['/token', '/frames']).flat());
    expect(provider.calls[1]?.headers.authorization).toBe('token-1');
  });

  it('releases the connection of a response that it never reads', async () => {
    await start({ MAX_STREAMS: '2' });
    const model = next();
    protocol.prepare = async ({ fetch }, { baseUrl }) => (await fetch(new URL('/token', baseUrl))).statusText;
    provider.answers((call) => {
      if (call.path === '/token') call.head().write('x');
      else return answering('Hi')(call);
    });
    for (let count = 0; count < 3; count++) {
      expect(await wireOf(await ask(model))).toMatchObject({ terminal: 'done' });
      await service.leftovers.none();
    }
  });

  it('gets an error that the process has no connection left for its fetch', async () => {
    await start({ MAX_STREAMS: '1' });
    const model = next();
    protocol.prepare = async ({ fetch }, { baseUrl }) => {
      await fetch(new URL('/token', baseUrl));
      return (await fetch(new URL('/token', baseUrl))).statusText;
    };
    provider.answers((call) => {
      call.head().write('x');
    });
    const answer = await stream(service.origin, { key, body: { model } });
    expect(answer.status).toBe(503);
    expect((await answer.error()).code).toBe('unavailable');
  });
});

describe('a dialect of the test kit with state', () => {
  it('begins again with each answer, also of answers at the same time', async () => {
    const numbered: Dialect = {
      ...openAi,
      forAnswer: () => {
        let number = 0;
        return { ...openAi, text: (text) => openAi.text(`${++number}. ${text} `) };
      },
    };
    const scripted = (await ScriptedProvider.start(numbered)).answers((call) => {
      call.answer('Hello', 'world');
    });
    const kit = await createTestService({ config: configFor(scripted) });
    const created = await kit.createKey();
    const answers = [1, 2].map(() => stream(kit.origin, { key: created.key, body: { model: TEST_MODEL } }));
    for (const answer of await Promise.all(answers)) expect(readWire(answer.raw).text).toBe('1. Hello 2. world ');
    await Promise.all([kit.stop(), scripted.stop()]);
  });
});
