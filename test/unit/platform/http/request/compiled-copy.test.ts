import fc from 'fast-check';
import { Exclude, plainToInstance, Transform, Type } from 'class-transformer';
import { Allow } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { ChatRequest, ChatRequestMessage } from '../../../../../src/chat/request/chat-request.dto.js';
import { instanceOf } from '../../../../../src/platform/http/request/compiled-copy.js';

class Inner {
  @Allow()
  readonly name!: string;
}

class Outer {
  @Allow()
  @Type(() => Inner)
  readonly list!: Inner[];

  @Allow()
  @Type(() => Number)
  readonly count?: number;

  @Allow()
  @Type((help) => (help?.object['text'] === '' ? Inner : ChatRequestMessage))
  readonly either?: unknown;

  @Allow()
  @Transform(({ value }) => `${value}!`)
  readonly shouted?: string;

  @Allow()
  readonly text?: string;
}

class Selective {
  @Allow()
  @Exclude()
  readonly hidden?: string;
}

const value = fc.jsonValue({ maxDepth: 2 });
const inner = fc.oneof(fc.record({ name: value }, { requiredKeys: [] }), value);
const outer = fc.record(
  {
    list: fc.oneof(fc.array(inner, { maxLength: 3 }), inner),
    count: value,
    either: inner,
    shouted: value,
    text: value,
    other: value,
  },
  { requiredKeys: [] },
);

describe('instanceOf', () => {
  it('makes the same copy as class-transformer', () => {
    fc.assert(
      fc.property(outer, (body) => {
        const copy = instanceOf(Outer, body);
        expect(copy).toStrictEqual(plainToInstance(Outer, body));
        expect(copy).not.toBe(body);
      }),
    );
  });

  it.each([
    { model: 'a/b', messages: [{ role: 'user', content: 'Hello' }], temperature: 1 },
    { model: 'a/b', messages: [{ role: 'user', content: 'Hello' }], stop: 'END' },
    { model: 'a/b', messages: [{ role: 'user', content: [{ type: 'text' }] }], max_tokens: undefined },
    { model: 'a/b', messages: 'Hello', unknown: true },
  ])('makes the same copy of the request %j', (body) => {
    expect(instanceOf(ChatRequest, body)).toStrictEqual(plainToInstance(ChatRequest, body));
  });

  it('copies the messages as objects of their class', () => {
    const message = { role: 'user', content: 'Hello' };
    const { messages } = instanceOf(ChatRequest, { messages: [message] });
    expect(messages[0]).toBeInstanceOf(ChatRequestMessage);
    expect(messages[0]).not.toBe(message);
  });

  it('leaves out members that class-transformer leaves out', () => {
    expect(instanceOf(Selective, { hidden: 'x' })).toStrictEqual(new Selective());
  });
});
