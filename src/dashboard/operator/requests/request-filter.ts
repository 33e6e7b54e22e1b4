import { choiceIn, textIn, type QueryValues } from '../../parts/query.js';
import { OUTCOME_WORDS } from '../../usage/outcome-badge.js';
import { FAILED_OUTCOMES, type StreamOutcome } from '../../../usage/record/stream-outcome.js';

/** Longer than a request id, an address, and the id of a model. */
const MAX_LENGTH = 255;
/** No whole key: the address of the page must not have one. */
const MAX_KEY_LENGTH = 36;

type Choice = '' | 'unsuccessful' | 'refused' | StreamOutcome;

/** The choices of the field "Outcome". */
export const OUTCOMES: Readonly<Record<Choice, string>> = {
  '': 'All requests',
  unsuccessful: 'All failed answers',
  refused: 'Refused',
  ...OUTCOME_WORDS,
};

/** The requests that the page shows, as its address says it. */
export interface RequestQuery {
  readonly request?: string | undefined;
  /** An address or an id. */
  readonly account?: string | undefined;
  /** The beginning or the id of a key, or `session`. */
  readonly key?: string | undefined;
  readonly model?: string | undefined;
  readonly outcome?: Choice | undefined;
}

export function requestQueryIn({ request, account, key, model, outcome }: QueryValues): RequestQuery {
  return {
    request: textIn(request, MAX_LENGTH),
    account: textIn(account, MAX_LENGTH),
    key: textIn(key, MAX_KEY_LENGTH),
    model: textIn(model, MAX_LENGTH),
    outcome: choiceIn(outcome, OUTCOMES),
  };
}

/** The outcomes of streams that a choice means. `undefined`: any. */
export function outcomesOf(choice: Choice | undefined): 'refused' | readonly StreamOutcome[] | undefined {
  switch (choice) {
    case undefined:
    case '':
      return undefined;
    case 'refused':
      return choice;
    case 'unsuccessful':
      return FAILED_OUTCOMES;
    default:
      return [choice];
  }
}
