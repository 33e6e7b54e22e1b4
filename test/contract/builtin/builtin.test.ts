import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyString } from '../../../src/testing/protocols/describe-events.js';
import type { UpstreamConfig } from '../../../src/platform/config/config.js';
import type { ChatCall, ChatMessage } from '../../../src/upstreams/contract/protocol.js';
import { BuiltinProtocol } from '../../../src/upstreams/protocols/builtin/builtin.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import { leastCpuMs } from '../../support/least-ms.js';
import { TEST_CONTEXT as CONTEXT, TEST_UPSTREAM as ACME } from '../../../src/testing/protocols/samples.js';

const upstream: UpstreamConfig = {
  ...ACME,
  name: 'builtin',
  protocol: 'builtin',
  baseUrl: undefined,
  apiKey: undefined,
};

const call = (message: string | readonly ChatMessage[], changes: Partial<ChatCall> = {}): ChatCall => ({
  model: 'eliza',
  messages: typeof message === 'string' ? [{ role: 'user', content: message }] : message,
  options: { temperature: 0 },
  maxTokens: undefined,
  modelMaxOutputTokens: undefined,
  ...changes,
});

async function partsOf(chatCall: ChatCall): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  const protocol = new BuiltinProtocol({ wordDelayMs: 0 });
  for await (const part of protocol.stream(chatCall, upstream, CONTEXT)) parts.push(part);
  return parts;
}

const textsIn = (parts: readonly StreamPart[]) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));

async function answerTo(message: string | readonly ChatMessage[], changes: Partial<ChatCall> = {}): Promise<string> {
  return textsIn(await partsOf(call(message, changes))).join('');
}

const conversation = (...said: string[]): ChatMessage[] =>
  said.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));

describe('the stream of the built-in protocol', () => {
  it('brings a word at a time, then usage, finish and complete', async () => {
    expect(await partsOf(call('echo one two  three'))).toEqual([
      { type: 'text', text: 'one ' },
      { type: 'text', text: 'two  ' },
      { type: 'text', text: 'three' },
      { type: 'usage', usage: { inputTokens: 4, outputTokens: 3 } },
      { type: 'finish', reason: 'stop', raw: 'stop' },
      { type: 'complete', last: true },
    ]);
  });

  it('stops after max_tokens words with finish reason length', async () => {
    const parts = await partsOf(call('count to 100', { maxTokens: 3 }));
    expect(textsIn(parts).join('').trim()).toBe('1 2 3');
    expect(parts.slice(-3)).toEqual([
      { type: 'usage', usage: { inputTokens: 3, outputTokens: 3 } },
      { type: 'finish', reason: 'length', raw: 'length' },
      { type: 'complete', last: true },
    ]);
  });

  it('finishes with stop when max_tokens is just enough', async () => {
    expect(await partsOf(call('count to 3', { maxTokens: 3 }))).toContainEqual({
      type: 'finish',
      reason: 'stop',
      raw: 'stop',
    });
  });

  it('counts the words of the whole prompt', async () => {
    const messages: ChatMessage[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: ' echo a ' },
    ];
    expect(await partsOf(call(messages))).toContainEqual({
      type: 'usage',
      usage: { inputTokens: 4, outputTokens: 1 },
    });
  });

  it('ends at once and says nothing more when the signal aborts while it waits for the next word', async () => {
    const abort = new AbortController();
    const stream = new BuiltinProtocol({ wordDelayMs: 3_600_000 }).stream(call('count to 5'), upstream, {
      ...CONTEXT,
      signal: abort.signal,
    });
    expect(await stream.next()).toEqual({ done: false, value: { type: 'text', text: '1 ' } });
    const next = stream.next();
    abort.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('says nothing at all when the signal aborted before', async () => {
    const stream = new BuiltinProtocol().stream(call('hello'), upstream, { ...CONTEXT, signal: AbortSignal.abort() });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  it('waits between words by default', async () => {
    const stream = new BuiltinProtocol().stream(call('count to 3'), upstream, CONTEXT);
    const startedAt = performance.now();
    while (!(await stream.next()).done);
    expect(performance.now() - startedAt).toBeGreaterThan(40);
  });
});

const LONE_SURROGATE = /\p{Surrogate}/u;

describe('texts on request', () => {
  it('repeats any text exactly, white space and all, and never splits a code point', async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '  ', '\n', '\t', '\u00a0', '😀', 'é', '漢', '👩‍👩‍👧'),
      minLength: 1,
    });
    await fc.assert(
      fc.asyncProperty(text, async (wanted) => {
        const pieces = textsIn(await partsOf(call(`echo ${wanted}`)));
        expect(pieces.join('')).toBe(wanted);
        for (const piece of pieces) {
          expect(piece).not.toBe('');
          expect(piece).not.toMatch(LONE_SURROGATE);
        }
      }),
    );
  });

  it('cuts a word that never ends, and white space, into pieces', async () => {
    for (const wanted of ['😀'.repeat(10_001), 'é'.repeat(10_001), `a${' '.repeat(10_001)}`, '\n'.repeat(10_001)]) {
      const pieces = textsIn(await partsOf(call(`echo ${wanted}`)));
      expect(pieces.join('')).toBe(wanted);
      for (const piece of pieces) {
        expect(piece.length).toBeLessThanOrEqual(256);
        expect(piece).not.toMatch(LONE_SURROGATE);
      }
    }
  });

  it('generates no more of a long text than requested', async () => {
    const chatCall = call(`echo ${'a '.repeat(2_000_000)}`);
    const cpuMs = await leastCpuMs(async () => {
      const stream = new BuiltinProtocol({ wordDelayMs: 0 }).stream(chatCall, upstream, CONTEXT);
      expect(await stream.next()).toMatchObject({ value: { text: 'a ' } });
      await stream.return(undefined);
    });
    expect(cpuMs).toBeLessThan(100);
  });

  it('lets other work go on while it counts the words of a long prompt', async () => {
    let turns = 0;
    let timer = setImmediate(function count() {
      turns += 1;
      timer = setImmediate(count);
    });
    await partsOf(call(`echo ${'a '.repeat(2_000_000)}`, { maxTokens: 1 }));
    clearImmediate(timer);
    expect(turns).toBeGreaterThan(10);
  });

  it('stops counting when the signal aborts', async () => {
    const abort = new AbortController();
    const chatCall = call(`echo ${'a '.repeat(2_000_000)}`, { maxTokens: 1 });
    const stream = new BuiltinProtocol({ wordDelayMs: 0 }).stream(chatCall, upstream, {
      ...CONTEXT,
      signal: abort.signal,
    });
    await stream.next();
    const next = stream.next();
    abort.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('repeats after the user', async () => {
    expect(await answerTo('Repeat after me: I am  a parrot.\n')).toBe('I am  a parrot.\n');
  });

  it('counts', async () => {
    expect(await answerTo('Please count to 12')).toBe('1 2 3 4 5 6 7 8 9 10 11 12');
  });

  it.each(['count to 1001', 'count to 0'])('names the limits on the request to %s', async (request) => {
    expect(await answerTo(request)).toBe('I can only do that with a number from 1 to 1000.');
  });

  it.each([1, 1_000, 10_000])('writes exactly %d words', async (count) => {
    const parts = await partsOf(call(`write ${count} words`));
    expect(textsIn(parts)).toHaveLength(count);
    expect(parts).toContainEqual({ type: 'usage', usage: { inputTokens: 3, outputTokens: count } });
  });

  it('accepts a number with a thousands separator', async () => {
    expect((await answerTo('write 1,000 words')).split(' ')).toHaveLength(1_000);
  });

  it('names the limits when too many words are requested', async () => {
    expect(await answerTo('write 10001 words')).toBe('I can only do that with a number from 1 to 10000.');
  });

  it('finds a request only at the beginning of a message', async () => {
    expect(await answerTo(`${'- '.repeat(100)}count to 3`)).toBe('1 2 3');
    expect(await answerTo(`${'- '.repeat(300)}count to 3`)).toMatch(/^I have no reply for that/);
  });
});

describe('small talk', () => {
  it.each(['Hello! Who are you?', 'are you ChatGPT?', 'What model is this?', 'How do I configure a real provider?'])(
    'says that it is a stand-in, and how to configure a model, on the message "%s"',
    async (question) => {
      const answer = await answerTo(question);
      expect(answer).toContain('built-in stand-in');
      expect(answer).toContain('not a language model');
      expect(answer).toContain('OPENAI_API_KEY');
    },
  );

  it.each([
    ['hello', 'Hello! I am the built-in stand-in'],
    ['Thank you so much', 'You are welcome!'],
    ['/help', 'I know three requests to test streaming: "echo"'],
    ['ping', 'It works'],
    ['bye', 'Goodbye!'],
    ['What is the capital of France?', 'I have no reply for that. I am the built-in stand-in'],
    ['Archive the shire, contest it', 'I have no reply for that.'],
  ])('answers "%s" with "%s …"', async (said, answer) => {
    expect(await answerTo(said)).toMatch(new RegExp(`^${answer}`));
  });

  it('greets when no user has spoken', async () => {
    expect(await answerTo([{ role: 'system', content: 'Be brief.' }])).toMatch(/^Hello!/);
  });

  it('answers anything with something', async () => {
    await fc.assert(
      fc.asyncProperty(anyString, fc.double({ min: 0, max: 2, noNaN: true }), async (said, temperature) => {
        expect(await answerTo(said, { options: { temperature } })).not.toBe('');
      }),
    );
  });

  it.each([' ', 'write ', 'count to ', '1,', 'good ', 'are you ', '\n', 'x'])(
    'reads a thousand messages of %j in no time',
    async (unit) => {
      const content = unit.repeat(Math.ceil(4_000 / unit.length));
      const messages = Array.from({ length: 999 }, (): ChatMessage => ({ role: 'user', content }));
      const cpuMs = await leastCpuMs(() => answerTo(messages, { options: { temperature: 1 }, maxTokens: 1 }));
      expect(cpuMs).toBeLessThan(600);
    },
  );

  it('reads a message of megabytes in no time', async () => {
    const message = 'write me '.repeat(500_000);
    expect(await leastCpuMs(() => answerTo(message, { options: { temperature: 1 } }))).toBeLessThan(2_000);
  });
});

describe('the choice of words', () => {
  it('is the same for the same conversation', async () => {
    const messages = conversation('hello', 'Hi!', 'Tomatoes');
    expect(await answerTo(messages, { options: { temperature: 1 } })).toBe(
      await answerTo(messages, { options: { temperature: 1 } }),
    );
  });

  it('varies from conversation to conversation', async () => {
    const greetings = Array.from({ length: 20 }, (_, index) =>
      answerTo(conversation('x', String(index), 'hello'), { options: { temperature: 1 } }),
    );
    expect(new Set(await Promise.all(greetings)).size).toBeGreaterThan(1);
  });

  it('is always the first wording at temperature 0', async () => {
    const greetings = Array.from({ length: 20 }, (_, index) => answerTo(conversation('x', String(index), 'hello')));
    expect(new Set(await Promise.all(greetings)).size).toBe(1);
  });
});
