const COUNTS = new Intl.NumberFormat('en-US');
const SECONDS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });

/** Why the model stopped, in words. */
const REASONS = new Map([
  ['stop', 'finished'],
  ['length', 'token limit'],
  ['content_filter', 'content filter'],
]);

/**
 * The facts of a receipt for people, such as "12 tokens in". A fact that nobody knows is left out, and an estimate is marked.
 *
 * @param {import('../../client.js').Receipt} receipt
 * @returns {string[]}
 */
export function receiptFacts({ tokens, cost, currency, finish_reason: reason, ...times }) {
  const sign = tokens.source === 'estimated' ? '≈ ' : '';
  const startedAt = Date.parse(times.started_at);
  const firstAt = Date.parse(times.first_text_at ?? '');
  const seconds = (Date.parse(times.ended_at ?? '') - firstAt) / 1000;
  const speed = tokens.output === null || seconds < 0.05 ? NaN : tokens.output / seconds;
  return [
    tokens.input === null ? '' : `${sign}${COUNTS.format(tokens.input)} tokens in`,
    tokens.output === null ? '' : `${sign}${COUNTS.format(tokens.output)} tokens out`,
    cost === null || currency === null ? '' : `${sign}${money(cost, currency)}`,
    Number.isNaN(firstAt) ? '' : `first text after ${SECONDS.format((firstAt - startedAt) / 1000)} s`,
    Number.isNaN(speed) ? '' : `${COUNTS.format(Math.round(speed))} tokens/s`,
    reason === null ? '' : (REASONS.get(reason) ?? reason),
  ].filter((fact) => fact !== '');
}

/**
 * @param {number} amount
 * @param {string} currency
 */
function money(amount, currency) {
  const digits = amount >= 1 || amount === 0 ? 2 : amount >= 0.01 ? 4 : 6;
  const format = { style: /** @type {const} */ ('currency'), currency, minimumFractionDigits: digits };
  return new Intl.NumberFormat('en-US', { ...format, maximumFractionDigits: digits }).format(amount);
}
