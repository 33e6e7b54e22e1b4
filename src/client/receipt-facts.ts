import type { Receipt } from './chat-types.js';
import { money } from './money.js';

const COUNTS = new Intl.NumberFormat('en-US');
const SECONDS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** Why the model stopped, in words. */
const REASONS: Readonly<Record<string, string>> = {
  stop: 'finished',
  length: 'cut off at the token limit',
  content_filter: 'content filter',
  tool_calls: 'called tools',
};

/**
 * The facts of a receipt for people, such as "12 tokens in". An unknown fact is left out, and an estimate is marked.
 * For the playground and the terminal; the typed client does not import this file.
 */
export function receiptFacts({ tokens, cost, currency, finish_reason: reason, ...times }: Receipt): string[] {
  const sign = tokens.source === 'estimated' ? '≈ ' : '';
  const startedAt = Date.parse(times.started_at);
  const firstAt = Date.parse(times.first_text_at ?? '');
  const seconds = (Date.parse(times.ended_at ?? '') - firstAt) / 1000;
  const speed = tokens.output === null || seconds < 0.05 ? NaN : tokens.output / seconds;
  return [
    tokens.input === null ? '' : `${sign}${COUNTS.format(tokens.input)} tokens in`,
    tokens.output === null ? '' : `${sign}${COUNTS.format(tokens.output)} tokens out`,
    cost === null || currency === null ? '' : `${sign}${money(cost, currency)}`,
    Number.isNaN(firstAt) ? '' : `first text after ${secondsText((firstAt - startedAt) / 1000)}`,
    Number.isNaN(speed) ? '' : `${COUNTS.format(Math.round(speed))} tokens/s`,
    reason === null ? '' : (REASONS[reason] ?? reason),
  ].filter((fact) => fact !== '');
}

const secondsText = (seconds: number): string => (seconds < 0.1 ? '< 0.1 s' : `${SECONDS.format(seconds)} s`);
