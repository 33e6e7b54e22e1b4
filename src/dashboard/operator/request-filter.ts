import { FAILED_OUTCOMES, type StreamOutcome } from '../../usage/record/stream-outcome.js';
import { choiceIn, textIn, textsIn, type QueryValues } from '../parts/query.js';
import { OUTCOME_WORDS } from '../usage/request-cells.js';

/** Longer than a request id, an address, and the id of a model. */
const MAX_LENGTH = 255;
/** No whole key: the address of the page must not have one. */
export const MAX_KEY_LENGTH = 36;

type Choice = '' | 'unsuccessful' | 'refused' | StreamOutcome;

/** The choices of the field "Outcome". */
export const OUTCOMES: Readonly<Record<Choice, string>> = {
  '': 'All requests',
  unsuccessful: 'All failed answers',
  refused: 'Refused',
  ...OUTCOME_WORDS,
};

/**
 * The requests that the page shows, as its address says it. The account is an address or an id. The key is its beginning or its
 * id, or `session`.
 */
export function requestQueryIn(query: QueryValues) {
  return {
    ...textsIn(query, ['request', 'account', 'model'], MAX_LENGTH),
    key: textIn(query['key'], MAX_KEY_LENGTH),
    outcome: choiceIn(query['outcome'], OUTCOMES),
  };
}

export type RequestQuery = ReturnType<typeof requestQueryIn>;

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
