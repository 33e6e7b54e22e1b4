import { ChatPlugin, type ChatRequest, type CompletionHook, type CompletionPart } from 'chat-streaming-service';

/** Card numbers: 13 to 19 digits, with a space or a hyphen between them or without. */
const CARD = /\d(?:[ -]?\d){12,18}/g;
/** What may be the beginning of a card number that goes on in the next part. */
const BEGINNING = /\d(?:[ -]?\d){0,18}[ -]?$/;
const MASK = '[card number]';

/** Hides card numbers from the model and from the reader. A number of the answer may be split over any number of parts. */
export class Redactor implements CompletionHook {
  transformRequest(request: ChatRequest): ChatRequest {
    const messages = request.messages.map(({ role, content }) => ({ role, content: content.replace(CARD, MASK) }));
    return { ...request, messages };
  }

  async *wrapStream(parts: AsyncIterable<CompletionPart>): AsyncIterable<CompletionPart> {
    let kept = '';
    for await (const part of parts) {
      if (part.type === 'text') {
        const text = kept + part.text;
        const start = BEGINNING.exec(text)?.index ?? text.length;
        kept = text.slice(start);
        yield* masked(text.slice(0, start));
        continue;
      }
      // Token counts can arrive in the middle of a text. Every other part ends the text.
      if (part.type !== 'usage') {
        yield* masked(kept);
        kept = '';
      }
      yield part;
    }
    yield* masked(kept);
  }
}

/** A part with the text, or none if the text is empty. */
function* masked(text: string): Generator<CompletionPart> {
  if (text !== '') yield { type: 'text', text: text.replace(CARD, MASK) };
}

@ChatPlugin({ name: 'redactor', compatibility: '^1', completionHooks: [Redactor] })
export class RedactorPlugin {}
