import type { OpenStream } from './open-streams.js';

/** The texts of one answer, whose first is already asked for. Closes the stream that it belongs to however it ends. */
export class AnswerStream implements AsyncIterableIterator<string, undefined> {
  private first: Promise<IteratorResult<string, undefined>> | undefined;

  constructor(
    first: Promise<IteratorResult<string, undefined>>,
    private readonly texts: AsyncIterableIterator<string, undefined>,
    private readonly stream: OpenStream,
  ) {
    this.first = first;
    // Whoever reads is told; until then a failure must not count as one that nobody handles.
    first.catch(() => undefined);
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    const next = this.first ?? this.texts.next();
    this.first = undefined;
    try {
      const result = await next;
      if (result.done === true) this.stream.close();
      return result;
    } catch (error) {
      this.stream.close();
      throw error;
    }
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    this.stream.close();
    await this.texts.return?.();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
