import type { TokensUsed } from './tokens-used.js';
import { wholeTokens } from './whole-tokens.js';

const WAIT_MS = 1000;
/** After a missing answer, no request waits for an answer during this time. */
const PAUSE_MS = 5000;

/** Asks {@link TokensUsed} for the start value of a counter. Requests wait one second at most. */
export class TokensUsedLookup {
  private readonly asked = new Map<string, Promise<number | undefined>>();
  private silentUntil = -Infinity;

  constructor(private readonly tokensUsed: TokensUsed) {}

  /** Returns `undefined` when there is no valid answer. Requests continue without the value, and a later request asks again. */
  async since(accountId: string, day: number): Promise<number | undefined> {
    // Requests that arrive together share one question. Around midnight, there is one question for each day.
    const question = `${accountId} ${day}`;
    const known = this.asked.get(question);
    if (known !== undefined) return known;
    if (performance.now() < this.silentUntil) return undefined;
    const answer = this.ask(accountId, new Date(day)).finally(() => this.asked.delete(question));
    this.asked.set(question, answer);
    return answer;
  }

  private async ask(accountId: string, from: Date): Promise<number | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, WAIT_MS, undefined);
    });
    const answer = await Promise.race([this.tokensUsed.since(accountId, from).catch(() => undefined), late]);
    clearTimeout(timer);
    const used = answer === undefined ? undefined : wholeTokens(answer);
    if (used === undefined) this.silentUntil = performance.now() + PAUSE_MS;
    return used;
  }
}
