import { setTimeout as sleep } from 'node:timers/promises';
import type { ProviderCall as ScriptedCall } from '../../../../src/testing/provider/provider-call.js';
import type { Script } from '../../../../src/testing/provider/scripted-provider.js';
import { SeededRandom } from '../../../support/seeded-random.js';

/** How the provider ends its answer. */
const ENDS = ['done', 'done', 'done', 'done', 'done', 'done', 'cut', 'fail', 'refuse', 'stall'] as const;
type End = (typeof ENDS)[number];

const ALPHABET = ['a', 'bc ', 'é', '漢', '🦊', '👩‍👩‍👧', '\u2028', '"', '\\', '\n', '</p>', 'x'.repeat(40)];
/** Longer than the time limits of the upstream. */
const STALL_MS = 8_000;
const USAGE = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 3_000 } })}\n\n`;

/** A question whose words determine the answer, so that everyone can tell which text is right. */
export class Question {
  readonly pieces: readonly string[];
  readonly end: End;
  private readonly pauseMs: number;
  private readonly firstMs: number;

  /** @param name unique in the run. A part before the first `-` tells who asks. */
  constructor(readonly name: string) {
    const random = new SeededRandom(Buffer.from(name).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7));
    this.end = random.pick(ENDS);
    this.firstMs = random.chance(0.3) ? random.between(500, 7_000) : random.between(0, 50);
    this.pauseMs = random.pick([0, 5, 50, 400]);
    this.pieces = Array.from({ length: random.between(1, 25) }, () =>
      Array.from({ length: random.between(1, 12) }, () => random.pick(ALPHABET)).join(''),
    );
  }

  get text(): string {
    return this.pieces.join('');
  }

  async answer(call: ScriptedCall): Promise<void> {
    await sleep(this.firstMs);
    if (this.end === 'refuse') {
      call.refuse(503);
      return;
    }
    call.head();
    const last = this.end === 'done' ? this.pieces.length : Math.floor(this.pieces.length / 2);
    for (const piece of this.pieces.slice(0, last)) {
      call.text(piece);
      if (this.pauseMs > 0) await sleep(this.pauseMs);
      if (call.abortedAt !== undefined) return;
    }
    if (this.end === 'done') call.finish().write(USAGE).endMarker().end();
    else if (this.end === 'cut') await call.cut();
    else if (this.end === 'fail') call.failure('server_error');
    else await Promise.race([sleep(STALL_MS), call.over]);
  }
}

/** One call of the provider, by the monotonic clock. */
export interface ProviderCall {
  readonly question: string;
  readonly from: number;
  to: number;
}

/** Answers all questions, and notes the calls. */
export class Answers {
  readonly calls: ProviderCall[] = [];

  readonly script: Script = async (call) => {
    const { messages } = call.json as { messages: { content: string | { text: string }[] }[] };
    const content = messages.at(-1)?.content ?? '';
    const question = typeof content === 'string' ? content : (content[0]?.text ?? '');
    const noted: ProviderCall = { question, from: performance.now(), to: Infinity };
    this.calls.push(noted);
    void call.over.then(() => (noted.to = performance.now()));
    await new Question(question).answer(call);
  };
}
