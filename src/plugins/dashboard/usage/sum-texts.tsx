import { AT_LEAST, count, ESTIMATED, money } from '../format/numbers.js';
import type { UsageSum } from './usage-sum.js';

/** A number of tokens as text, with a sign if the number is an estimate or leaves out unknown values. */
export function tokens(number: number, { requests, tokensUnknown, tokensEstimated }: UsageSum): string {
  if (number === 0 && requests > 0 && tokensUnknown === requests) return 'unknown';
  if (tokensUnknown > 0) return `${AT_LEAST} ${count(number)}`;
  return tokensEstimated > 0 ? `${ESTIMATED} ${count(number)}` : count(number);
}

/** The costs of a sum as text, by currency. */
export function cost({ costs, withoutCost, tokensEstimated }: UsageSum): string {
  if (costs.size === 0) return '–';
  const sign = withoutCost > 0 ? `${AT_LEAST} ` : tokensEstimated > 0 ? `${ESTIMATED} ` : '';
  return sign + [...costs].map(([currency, amount]) => money(amount, currency)).join(' + ');
}

interface SignNotesProps {
  /** The sums of the page. */
  readonly sums: readonly UsageSum[];
  readonly withCost: boolean;
  /** Whether the sums are shown with their tokens. */
  readonly withTokens?: boolean;
}

/** Explains the signs in front of figures, at the end of a page. Shows nothing if no figure has a sign. */
export function SignNotes({ sums, withCost, withTokens = false }: SignNotesProps) {
  const hasEstimates = (withCost || withTokens) && sums.some(({ tokensEstimated }) => tokensEstimated > 0);
  const lacksTokens = withTokens && sums.some(({ tokensUnknown }) => tokensUnknown > 0);
  const lacksCosts = withCost && sums.some(({ withoutCost }) => withoutCost > 0);
  const notes = [
    lacksTokens && `${AT_LEAST} At least: tokens do not include requests without token counts.`,
    lacksCosts &&
      `${AT_LEAST} At least: cost does not include requests without token counts or without a price of the model.`,
    hasEstimates && `${ESTIMATED} Partly estimated, because the provider did not report all token counts.`,
  ].filter((note) => note !== false);
  if (notes.length === 0) return null;
  return (
    <ul class="fine notes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}
