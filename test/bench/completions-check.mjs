import { StreamCheck } from './stream-check.mjs';

const LAST = 'data: [DONE]';

/** Checks the events of one stream of `POST /chat/completions`, as a {@link StreamCheck} of the chunks that they stand for. */
export class CompletionsCheck extends StreamCheck {
  #hasStarted = false;
  #isFinished = false;

  constructor(text, script, onStamp) {
    super(text, script, onStamp, false);
  }

  block(written) {
    if (written === ': keep-alive') return;
    if (written === LAST) {
      if (!this.#isFinished) this.wrong ??= 'the end without a finish reason';
      super.block('data: {"content":"","done":true}');
      return;
    }
    if (!written.startsWith('data: {"id":"chatcmpl-')) {
      super.block(written);
      return;
    }
    // The bytes of the connection are read one by one.
    const { choices } = JSON.parse(Buffer.from(written.slice('data: '.length), 'latin1').toString());
    const [{ delta, finish_reason: finishReason }] = choices;
    if (this.#isFinished) this.wrong ??= `after the finish reason: ${written.slice(0, 80)}`;
    if (finishReason !== null) this.#isFinished = true;
    else if (this.#hasStarted) this.#addDelta(delta);
    else if (delta.role !== 'assistant' || delta.content !== '') this.wrong ??= 'the first chunk has no role';
    this.#hasStarted = true;
  }

  #addDelta({ content, tool_calls: calls }) {
    if (!this.script.callsTool) this.add(content);
    // The first piece of a call has its name, and no arguments yet.
    else for (const { function: piece } of calls) if (piece.arguments !== '') this.add(piece.arguments);
  }
}
