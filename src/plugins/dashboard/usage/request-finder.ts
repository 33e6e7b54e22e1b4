import { Inject, Injectable } from '@nestjs/common';
import { type Clock, CLOCK, DAY_MS } from '../../../plugin-api/core/common.js';
import type { TimePage, TimePosition } from '../../../plugin-api/core/database.js';
import { FAILED_OUTCOMES, type StreamOutcome } from '../../../plugin-api/core/usage.js';
import { RequestSearch, type FoundRequest } from '../requests/request-search.js';
import { csvOf } from '../parts/csv-file.js';
import { PAGE_SIZE } from '../parts/lists.js';
import { choiceIn, pathWith, textIn, textsIn, type QueryValues } from '../parts/query.js';
import { OUTCOME_WORDS } from './request-cells.js';
import { periodIn } from './request-period.js';
import { requestColumns, requestLine } from './request-table.js';

/** Longer than a request id, an address, and the id of a model. */
const MAX_LENGTH = 255;
/** No whole key: the address of the page must not have one. */
export const MAX_KEY_LENGTH = 36;
/** No request began before. */
const LONG_AGO = new Date(0);
/** The maximum number of rows of a file. */
const MAX_ROWS = 10_000;

type Status = '' | 'unsuccessful' | 'refused' | StreamOutcome;

/** The choices of the field "Status". */
export const STATUSES: Readonly<Record<Status, string>> = {
  '': 'All requests',
  unsuccessful: 'All failed answers',
  refused: 'Refused',
  ...OUTCOME_WORDS,
};

/**
 * The requests that a list shows, as the address of its page says it. The account is an address or an id. The key is its beginning or
 * its id, or `session`.
 */
export function requestQueryIn(query: QueryValues) {
  return {
    ...textsIn(query, ['from', 'to', 'request', 'account', 'model', 'error', 'upstream'], MAX_LENGTH),
    key: textIn(query['key'], MAX_KEY_LENGTH),
    outcome: choiceIn(query['outcome'], STATUSES),
  };
}

export type RequestQuery = ReturnType<typeof requestQueryIn>;

/** Finds the requests that the address of a list asks for. */
@Injectable()
export class RequestFinder {
  constructor(
    private readonly search: RequestSearch,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** The path of the list with the day of each time, so that it means the same tomorrow. `undefined`: each time has its day. */
  exactPath(path: string, query: RequestQuery): string | undefined {
    const { exact } = periodIn(query, this.now());
    const isExact = exact.from === query.from && exact.to === query.to;
    return isExact ? undefined : pathWith(path, { ...query, ...exact });
  }

  /** What is wrong with the times of the query. `undefined`: nothing. */
  problemOf(query: RequestQuery): string | undefined {
    const { wrong } = periodIn(query, this.now());
    return wrong && `“${wrong}” is not a time. Write 14:03, 14:03:05 or 2026-11-26 14:03:05, in UTC.`;
  }

  /**
   * Returns a page of the list: see {@link RequestSearch.list}.
   *
   * @param accountId `undefined`: all accounts.
   */
  page(
    { request: requestId, key, model, outcome, error: errorCode, upstream, ...texts }: RequestQuery,
    accountId: string | undefined,
    before: TimePosition | undefined,
    limit = PAGE_SIZE,
  ): Promise<TimePage<FoundRequest>> {
    const now = this.now();
    // The clocks of replicas can differ.
    const { from = LONG_AGO, to = new Date(now + DAY_MS) } = periodIn(texts, now);
    const scope = { requestId, accountId, key, model, errorCode, upstream };
    return this.search.list({ ...scope, from, to, outcomes: outcomesOf(outcome), before }, limit);
  }

  /** Returns the list as CSV. A file for members has no facts that only operators may see. */
  file(query: RequestQuery, accountId: string | undefined, reader: 'operator' | 'member'): Promise<Buffer> {
    return csvOf({
      columns: requestColumns(reader),
      pages: this.pagesOf(query, accountId),
      rowOf: requestLine,
      maxRows: MAX_ROWS,
    });
  }

  private async *pagesOf(query: RequestQuery, accountId: string | undefined) {
    let before: TimePosition | undefined;
    do {
      const { rows, next } = await this.page(query, accountId, before, 10 * PAGE_SIZE);
      yield rows;
      before = next;
    } while (before !== undefined);
  }
}

/** The outcomes of streams that a choice means. `undefined`: any. */
function outcomesOf(status: Status | undefined): 'refused' | readonly StreamOutcome[] | undefined {
  switch (status) {
    case undefined:
    case '':
      return undefined;
    case 'refused':
      return status;
    case 'unsuccessful':
      return FAILED_OUTCOMES;
    default:
      return [status];
  }
}
