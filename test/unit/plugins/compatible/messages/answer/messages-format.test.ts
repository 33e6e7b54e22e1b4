import type Anthropic from '@anthropic-ai/sdk';
import { stringifyWithSources } from '../../../../../../src/platform/common/json/json-source.js';
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerContents } from '../../../../../../src/chat/answer-contents.js';
import { ServiceError } from '../../../../../../src/platform/common/service-error.js';
import { messageContent } from '../../../../../../src/plugins/compatible/messages/answer/message-json.js';
import { messagesFormat } from '../../../../../../src/plugins/compatible/messages/answer/messages-format.js';
import type { ShownThinking } from '../../../../../../src/plugins/compatible/messages/body/messages-request.js';
import type { AnswerFacts } from '../../../../../../src/plugins/compatible/shared/compatible-answers.js';
import type { StreamFormat } from '../../../../../../src/chat/stream/stream-format.js';
import type { CompletionPart, TokenUsage } from '../../../../../../src/upstreams/contract/stream-part.js';

interface Options {
  readonly thinking?: ShownThinking;
  readonly stop?: readonly string[];
  /** The counts of the ledger. */
  readonly usage?: TokenUsage;
}

function formatOf({ thinking = 'shown', stop, usage = {} }: Options = {}): StreamFormat {
  const facts = { id: 'abc', createdSeconds: 0, model: 'acme/fast', usage: () => usage } as AnswerFacts;
  const conversation = { model: 'acme/fast', messages: [{ role: 'user' as const, content: 'Hello' }], stop };
  return messagesFormat({ conversation, thinking, isStream: true, mapped: [] }, 'request-1').stream(facts);
}

type Event = Anthropic.RawMessageStreamEvent;

/** Returns the events of a text, and checks that the name of each event is the type of its data. */
function eventsOf(text: string): Event[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      const event = JSON.parse(data ?? '') as Event;
      expect(event.type).toBe(name);
      return event;
    });
}

function streamed(parts: readonly CompletionPart[], options?: Options): Event[] {
  const format = formatOf(options);
  return eventsOf(parts.map((part) => format.part(part, undefined) ?? '').join('') + (format.end() ?? ''));
}

/** What the client of Anthropic makes of the events. */
async function read(events: readonly Event[]): Promise<Anthropic.Message> {
  const lines = new ReadableStream({
    start(controller) {
      for (const event of events) controller.enqueue(new TextEncoder().encode(`${JSON.stringify(event)}\n`));
      controller.close();
    },
  });
  return MessageStream.fromReadableStream(lines).finalMessage();
}

const text = (value: string): CompletionPart => ({ type: 'text', text: value });
const start = (id: string): CompletionPart => ({ type: 'tool_call_start', id, name: 'weather', index: 0 });
const delta = (id: string, json: string): CompletionPart => ({ type: 'tool_call_delta', id, json });
const end = (id: string): CompletionPart => ({ type: 'tool_call_end', id });
const finish = (reason: 'stop' | 'length' | 'tool_calls' | 'other', raw: string = reason): CompletionPart => ({
  type: 'finish',
  reason,
  raw,
});

const typesOf = (events: readonly Event[]): string[] =>
  events.map((event) => ('index' in event ? `${event.type} ${event.index}` : event.type));

describe('a stream of POST messages', () => {
  it('is one message with its blocks, its end and its tokens', () => {
    const events = streamed([text('Hel'), text('lo'), finish('stop')], {
      usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 2, reasoningOutputTokens: 1 },
    });
    expect(events).toEqual([
      {
        type: 'message_start',
        message: expect.objectContaining({
          ...{ id: 'msg_abc', type: 'message', role: 'assistant', model: 'acme/fast', content: [], stop_reason: null },
          usage: expect.objectContaining({ input_tokens: 1, output_tokens: 0 }) as unknown,
        }) as unknown,
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null, stop_details: null, container: null },
        usage: {
          input_tokens: 6,
          cache_read_input_tokens: 4,
          cache_creation_input_tokens: null,
          output_tokens: 2,
          output_tokens_details: { thinking_tokens: 1 },
          server_tool_use: null,
        },
      },
      { type: 'message_stop' },
    ]);
  });

  it('begins with the tokens of the prompt that the provider has reported', () => {
    const [first] = streamed([
      { type: 'usage', usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 1 } },
      text('a'),
      finish('stop'),
    ]);
    expect(first).toMatchObject({ message: { usage: { input_tokens: 6, cache_read_input_tokens: 4 } } });
  });

  it.each([
    [finish('length'), undefined, 'max_tokens', null],
    [finish('tool_calls'), undefined, 'tool_use', null],
    [finish('other', 'pause'), undefined, 'end_turn', null],
    [finish('stop', 'stop_sequence'), ['END'], 'stop_sequence', 'END'],
    [finish('stop', 'stop_sequence'), ['END', 'STOP'], 'stop_sequence', null],
  ])('has the stop reason of %j', async (last, stop, reason, sequence) => {
    const message = await read(streamed([text('a'), last], stop && { stop }));
    expect(message).toMatchObject({ stop_reason: reason, stop_sequence: sequence });
  });

  it('sends one call after the other, also if the provider sends them side by side', () => {
    const events = streamed([
      ...[text('Wait.'), start('a'), delta('a', '{"x"'), start('b'), delta('b', '{"y"'), delta('a', ':1}')],
      ...[delta('b', ':2}'), text('Then'), end('b'), end('a'), finish('tool_calls')],
    ]);
    expect(typesOf(events)).toEqual([
      'message_start',
      ...['content_block_start 0', 'content_block_delta 0', 'content_block_stop 0'],
      ...['content_block_start 1', 'content_block_delta 1', 'content_block_delta 1', 'content_block_stop 1'],
      ...['content_block_start 2', 'content_block_delta 2', 'content_block_stop 2'],
      ...['content_block_start 3', 'content_block_delta 3', 'content_block_stop 3'],
      ...['message_delta', 'message_stop'],
    ]);
    expect(events.filter(({ type }) => type === 'content_block_delta').at(3)).toMatchObject({
      delta: { type: 'input_json_delta', partial_json: '{"y":2}' },
    });
  });

  it('sends thinking with its proof, and an encrypted form as a block of its own', async () => {
    const { content } = await read(
      streamed([
        { type: 'reasoning', text: 'Hm' },
        { type: 'reasoning', text: '', signature: 'proof' },
        { type: 'reasoning', text: 'And', encrypted: 'sealed' },
        text('Yes.'),
        finish('stop'),
      ]),
    );
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm', signature: 'proof' },
      { type: 'thinking', thinking: 'And', signature: '' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'text', text: 'Yes.', citations: [] },
    ]);
  });

  it('sends only the proofs, or no thinking, on request', async () => {
    const parts: CompletionPart[] = [
      { type: 'reasoning', text: 'Hm' },
      { type: 'reasoning', text: '', signature: 'proof' },
      { type: 'reasoning', text: 'unsigned' },
      text('Yes.'),
      finish('stop'),
    ];
    const omitted = await read(streamed(parts, { thinking: 'omitted' }));
    expect(omitted.content.map((block) => ({ ...block }))).toMatchObject([
      { type: 'thinking', thinking: '', signature: 'proof' },
      { type: 'text', text: 'Yes.' },
    ]);
    expect((await read(streamed(parts, { thinking: 'none' }))).content).toMatchObject([{ type: 'text', text: 'Yes.' }]);
  });

  it('is complete without any text', () => {
    expect(typesOf(streamed([finish('stop')]))).toEqual(['message_start', 'message_delta', 'message_stop']);
  });

  it('ends with an error event, and has pings as keep-alives', () => {
    const format = formatOf();
    expect(format.keepAlive()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
    const error = format.error(new ServiceError('upstream_unavailable', 'The provider is overloaded.'));
    expect(eventsOf(error ?? '')).toEqual([
      {
        type: 'error',
        error: { type: 'overloaded_error', message: 'The provider is overloaded.' },
        request_id: 'request-1',
      },
    ]);
  });

  it('is read by the client of Anthropic as the whole message, whatever the order of the parts', async () => {
    const piece = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: fc.string({ minLength: 1 }) }),
      fc.record({ type: fc.constant('reasoning' as const), text: fc.string({ minLength: 1 }) }),
      fc.record({ type: fc.constant('reasoning' as const), text: fc.string(), signature: fc.string({ minLength: 1 }) }),
      fc.record({ type: fc.constant('reasoning' as const), text: fc.string(), encrypted: fc.string({ minLength: 1 }) }),
      fc.record({ type: fc.constant('call' as const), id: fc.constantFrom('a', 'b', 'c') }),
    );
    const thinkings = fc.constantFrom<ShownThinking>('shown', 'omitted', 'none');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), thinkings, async (pieces, thinking) => {
        const parts = partsOf(pieces);
        const contents = new AnswerContents();
        for (const part of parts) contents.add(part);
        const { content } = await read(streamed(parts, { thinking }));
        const whole: unknown = JSON.parse(stringifyWithSources(messageContent(contents.completion(), thinking)));
        expect(JSON.parse(JSON.stringify(content))).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });
});

type Piece = CompletionPart | { readonly type: 'call'; readonly id: string };

/** Opens each call at its first mention, sends its arguments in two pieces, and ends it at its third mention or at the end. */
function partsOf(pieces: readonly Piece[]): CompletionPart[] {
  const mentions = new Map<string, number>();
  const parts: CompletionPart[] = [];
  const mention = (id: string): void => {
    const json = JSON.stringify({ id });
    const count = mentions.get(id) ?? 0;
    mentions.set(id, count + 1);
    if (count === 0) parts.push(start(id), delta(id, json.slice(0, 3)));
    if (count === 1) parts.push(delta(id, json.slice(3)));
    if (count === 2) parts.push(end(id));
  };
  for (const piece of pieces) {
    if (piece.type === 'call') mention(piece.id);
    else parts.push(piece);
  }
  for (const [id, count] of mentions) for (let more = count; more < 3; more += 1) mention(id);
  return [...parts, finish('stop')];
}
