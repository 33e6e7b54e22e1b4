import { AT_LEAST, ESTIMATED } from '../format/numbers.js';
import type { UsageSum } from './usage-sum.js';

interface SignNotesProps {
  /** The sums of a table, or of the figures above. */
  readonly sums: readonly UsageSum[];
  readonly withCost: boolean;
  /** Whether the sums are shown with their tokens. */
  readonly withTokens?: boolean;
}

/** Explains the signs in front of the figures above. Shows nothing if no figure has a sign. */
export function SignNotes({ sums, withCost, withTokens = false }: SignNotesProps) {
  const hasEstimates = sums.some(({ tokensEstimated }) => tokensEstimated > 0);
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
