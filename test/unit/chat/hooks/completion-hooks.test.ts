import { describe, expect, it, vi } from 'vitest';
import type { CompletionHook, HookContext } from '../../../../src/chat/hooks/completion-hook.js';
import { CompletionHooks } from '../../../../src/chat/hooks/completion-hooks.js';
import type { ChatRequest } from '../../../../src/chat/request/chat-request.dto.js';
import { ConversationValidation } from '../../../../src/chat/request/conversation/conversation-validation.js';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import type { Extensions } from '../../../../src/platform/common/extensions/extensions.js';
import { RequestValidationPipe } from '../../../../src/platform/http/request/request-validation.pipe.js';
import type { FailoverStream } from '../../../../src/upstreams/routing/failover-stream.js';
import type { CompletionPart } from '../../../../src/upstreams/contract/stream-part.js';

const REQUEST = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hello!' }] } satisfies ChatRequest;
const VALIDATION = new ConversationValidation(new RequestValidationPipe());
const CONTEXT = { requestId: 'r-1' } as HookContext;

function hooksOf(...hooks: CompletionHook[]): CompletionHooks {
  const all = new CompletionHooks({ of: () => hooks } as unknown as Extensions, VALIDATION);
  all.onModuleInit();
  return all;
}

/** A complete answer: each text is a part. */
function answer(...texts: string[]): FailoverStream {
  async function* parts(): AsyncGenerator<CompletionPart, undefined> {
    for (const text of texts) yield await Promise.resolve({ type: 'text', text } as const);
    return undefined;
  }
  return Object.assign(parts(), {
    isComplete: true,
    accepted: Promise.resolve(),
    stop: vi.fn(),
  }) as unknown as FailoverStream;
}

async function textOf(parts: AsyncIterable<CompletionPart>): Promise<string> {
  let all = '';
  for await (const part of parts) if (part.type === 'text') all += part.text;
  return all;
}

const adding = (name: string): CompletionHook => ({
  transformRequest: (request) => ({ messages: request.messages, model: `${request.model}${name}` }),
  async *wrapStream(parts) {
    for await (const part of parts) yield part.type === 'text' ? { ...part, text: `${part.text}${name}` } : part;
  },
});

describe('completion hooks', () => {
  it('are none at first, and where no plugin has any', () => {
    const before = new CompletionHooks({ of: () => [adding('1')] } as unknown as Extensions, VALIDATION);
    for (const none of [before, hooksOf()]) expect([none.isEmpty, none.wrapsStreams]).toEqual([true, false]);
  });

  it('wrap streams only where one has the method for it', () => {
    const asking = hooksOf({ transformRequest: (request) => request });
    expect([asking.isEmpty, asking.wrapsStreams]).toEqual([false, false]);
    expect([hooksOf(adding('1')).isEmpty, hooksOf({}, adding('1')).wrapsStreams]).toEqual([false, true]);
  });

  it('get the request in their order, and the parts in the opposite one', async () => {
    const hooks = hooksOf(adding('1'), {}, adding('2'));
    expect(await hooks.transform(REQUEST, CONTEXT)).toEqual({ ...REQUEST, model: 'acme/fast12' });
    expect(await textOf(hooks.wrap(answer('a', 'b'), CONTEXT, vi.fn()))).toBe('a21b21');
  });

  it('get the same context for the request and for the parts', async () => {
    const contexts: HookContext[] = [];
    const hooks = hooksOf({
      transformRequest: (request, context) => {
        contexts.push(context);
        return request;
      },
      wrapStream: (parts, context) => {
        contexts.push(context);
        return parts;
      },
    });
    await hooks.transform(REQUEST, CONTEXT);
    await textOf(hooks.wrap(answer('a'), CONTEXT, vi.fn()));
    expect(contexts).toEqual([CONTEXT, CONTEXT]);
    expect(contexts.every((context) => context === CONTEXT)).toBe(true);
  });

  it('may return the same request, which is not checked again, or one that comes later', async () => {
    const odd = { ...REQUEST, temperature: 99 };
    expect(await hooksOf({ transformRequest: (request) => request }).transform(odd, CONTEXT)).toBe(odd);
    const later = hooksOf({
      transformRequest: (request) => Promise.resolve({ messages: request.messages, model: 'acme/other' }),
    });
    expect((await later.transform(REQUEST, CONTEXT)).model).toBe('acme/other');
  });

  it('fail where they return a request that is not valid, with the problem', async () => {
    const hooks = hooksOf(
      { transformRequest: ({ model, messages }) => ({ model, messages, temperature: 99 }) },
      adding('2'),
    );
    await expect(hooks.transform(REQUEST, CONTEXT)).rejects.toThrow(
      /^The completion hook Object returned an invalid request: temperature must/,
    );
  });

  it('refuse a request by an error, before the next hook sees it', async () => {
    const next = vi.fn();
    const refusal = new ServiceError('forbidden', 'Not this one.');
    const hooks = hooksOf(
      {
        transformRequest: () => {
          throw refusal;
        },
      },
      { transformRequest: next },
    );
    await expect(hooks.transform(REQUEST, CONTEXT)).rejects.toBe(refusal);
    expect(next).not.toHaveBeenCalled();
  });

  it('report the end of the wrapped stream once, with its failure', async () => {
    const onOver = vi.fn();
    await textOf(hooksOf(adding('1')).wrap(answer('a'), CONTEXT, onOver));
    const failing: CompletionHook = {
      wrapStream: () => {
        throw new Error('a bug');
      },
    };
    await expect(textOf(hooksOf(failing).wrap(answer('a'), CONTEXT, onOver))).rejects.toThrow('a bug');
    expect(onOver.mock.calls).toMatchObject([[undefined], [{ message: 'a bug' }]]);
  });
});
