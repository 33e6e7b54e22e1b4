import { ErrorEvent, EventSource } from 'eventsource';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { setStage, type Stage } from '../support/stage.js';
import { HELLO } from '../support/sse-client.js';

const TEXTS = ['Zwölf Boxkämpfer ', 'jagen Viktor\n\n', 'data: über den ', '🦜', '\u2028 großen Deich'];

interface Chunk {
  readonly content: string;
  readonly done: boolean;
  readonly error?: { readonly code: string };
}

describe('the stream, as libraries for server-sent events read it', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage();
  });
  beforeEach(() => {
    stage.provider.calls.length = 0;
    stage.provider.answers((call) => {
      call.answer(...TEXTS);
    });
  });
  afterAll(() => stage.clear());

  const url = () => `${stage.origin}/api/v1/chat/stream`;
  const headers = () => ({ authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' });
  const post = () => ({ method: 'POST', headers: headers(), body: JSON.stringify(HELLO) });
  const failAfterText = () => {
    stage.provider.answers((call) => {
      call.head().text('Half').failure('server_error').end();
    });
  };

  describe('EventSource of the package eventsource', () => {
    /** Its own `fetch` turns the GET into our POST. */
    const open = () =>
      new EventSource(url(), {
        fetch: (address, { headers: own, signal }) =>
          fetch(address, { ...post(), headers: { ...own, ...headers() }, signal: signal as AbortSignal }),
      });
    /** Listens until the chunk that is done, or an error. */
    const read = (source: EventSource) =>
      new Promise<{ text: string; end: Chunk | ErrorEvent }>((resolve) => {
        let text = '';
        const finish = (end: Chunk | ErrorEvent): void => {
          source.close();
          resolve({ text, end });
        };
        source.addEventListener('message', ({ data }) => {
          const chunk = JSON.parse(data as string) as Chunk;
          text += chunk.content;
          if (chunk.done) finish(chunk);
        });
        source.addEventListener('error', (event: Event) => {
          finish('data' in event ? (JSON.parse(event.data as string) as Chunk) : event);
        });
      });

    it('gets every piece, and does not connect again after the last', async () => {
      const source = open();
      expect(await read(source)).toEqual({ text: TEXTS.join(''), end: { content: '', done: true } });
      expect(source.readyState).toBe(source.CLOSED);
      expect(stage.provider.calls).toHaveLength(1);
    });

    it('gets a failure after the first text as an event with data, named error', async () => {
      failAfterText();
      expect(await read(open())).toMatchObject({
        text: 'Half',
        end: { done: false, error: { code: 'upstream_error' } },
      });
    });

    it('gets a refusal with its status', async () => {
      stage.provider.answers((call) => {
        call.refuse(429);
      });
      const { end } = await read(open());
      expect(end).toBeInstanceOf(ErrorEvent);
      expect(end).toMatchObject({ code: 503 });
    });
  });

  describe('EventSourceParserStream of the package eventsource-parser', () => {
    const read = async () => {
      const { body } = await fetch(url(), post());
      const events: { readonly event: string | undefined; readonly id: string | undefined; readonly chunk: Chunk }[] =
        [];
      const parsed = body
        ?.pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream({ onError: 'terminate' }));
      for await (const { event, id, data } of parsed ?? [])
        events.push({ event, id, chunk: JSON.parse(data) as Chunk });
      return events;
    };

    it('gets messages without names and ids, the last of them done', async () => {
      const events = await read();
      expect(events.map(({ chunk }) => chunk.content).join('')).toBe(TEXTS.join(''));
      expect(events.filter(({ event, id }) => event !== undefined || id !== undefined)).toEqual([]);
      expect(events.map(({ chunk }) => chunk.done).indexOf(true)).toBe(events.length - 1);
    });

    it('gets a failure after the first text as the last event', async () => {
      failAfterText();
      expect((await read()).at(-1)).toMatchObject({ event: 'error', chunk: { done: false, content: '' } });
    });
  });
});
