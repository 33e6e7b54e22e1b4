import { setTimeout as sleep } from 'node:timers/promises';
import type { Script } from '../../../src/testing/provider/scripted-provider.js';
import { retryWhileOverloaded } from '../../support/retry-while-overloaded.js';
import { openStream } from '../../support/sse-client.js';
import { wireOf } from '../../support/wire.js';

/** Opens one stream after the other, and keeps what was wrong with any of them. */
export class Talker {
  readonly faults: string[] = [];
  complete = 0;
  private isStopping = false;
  private readonly over: Promise<void>;

  /** @param name sent with each request, so that the provider answers with it. */
  constructor(
    private readonly name: string,
    origin: string,
    key: string,
  ) {
    this.over = this.talk(origin, key);
  }

  /** Lets the stream that runs come to its end. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.over;
  }

  private async talk(origin: string, key: string): Promise<void> {
    for (let turn = 1; !this.isStopping; turn++) {
      const question = `${this.name}:${turn}`;
      try {
        const body = { messages: [{ role: 'user', content: question }] };
        const answer = await retryWhileOverloaded(() => openStream(origin, { key, body }));
        const said =
          answer.status === 200 ? await wireOf(answer) : { status: answer.status, ...(await answer.error()) };
        const expected = answerTo(question);
        if ('text' in said && said.text === expected && said.terminal === 'done') this.complete += 1;
        else this.faults.push(`${question}: ${JSON.stringify(said)}`);
      } catch (error) {
        this.faults.push(`${question}: ${String(error)}`);
      }
    }
  }
}

const PIECES = 20;
const PIECE_EVERY_MS = 50;

/** A provider that answers each question in a way of its own, for a second. */
export const pacedAnswer: Script = async (call) => {
  const { messages } = call.json as { messages: { content: string }[] };
  const question = messages[0]?.content ?? '';
  call.head();
  for (const piece of piecesOf(question)) {
    call.text(piece);
    await sleep(PIECE_EVERY_MS);
  }
  call.finish().endMarker().end();
};

function piecesOf(question: string): string[] {
  return Array.from({ length: PIECES }, (_, index) => `[${question}/${index}]`);
}

function answerTo(question: string): string {
  return piecesOf(question).join('');
}
