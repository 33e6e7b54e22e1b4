import {
  ChatPlugin,
  type CallContext,
  type ChatCall,
  type InProcessProtocol,
  type StreamPart,
} from 'chat-streaming-service';
import { ReadableStream } from 'node:stream/web';
import { setTimeout as pause } from 'node:timers/promises';

/** A library with its own client, such as one for a model that runs on this machine. It calls back for each word. */
class EchoLibrary {
  async generate(text: string, onWord: (word: string) => void, signal: AbortSignal): Promise<void> {
    for (const word of text.split(/(?<= )/)) {
      await pause(5, undefined, { signal });
      onWord(word);
    }
  }
}

/** A bridge to the library. The signal ends its work when the client leaves or a time limit expires. */
export class EchoProtocol implements InProcessProtocol {
  readonly transport = 'in-process';
  readonly name = 'echo';
  private readonly library = new EchoLibrary();

  async *stream({ messages }: ChatCall, _: unknown, { signal }: CallContext): AsyncIterable<StreamPart> {
    // Every content is a text, because the protocol declares no capabilities.
    const question = (messages.at(-1)?.content ?? '') as string;
    const words = new ReadableStream<string>({
      start: (queue) => {
        this.library
          .generate(question, (word) => queue.enqueue(word), signal)
          .then(() => queue.close())
          .catch((error: unknown) => queue.error(error));
      },
    });
    for await (const text of words) yield { type: 'text', text };
    yield { type: 'finish', reason: 'stop', raw: 'stop' };
    yield { type: 'complete', last: true };
  }
}

@ChatPlugin({ name: 'echo', compatibility: '^1', protocols: [EchoProtocol] })
export class EchoPlugin {}
