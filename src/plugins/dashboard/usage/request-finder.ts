import { Inject, Injectable } from '@nestjs/common';
import { DAY_MS, MINUTE_MS, startOfDay, utcDay, type Clock, CLOCK } from '../../../plugin-api/core/common.js';
import type { TimePage, TimePosition } from '../../../plugin-api/core/database.js';
import { FAILED_OUTCOMES, type StreamOutcome } from '../../../plugin-api/core/usage.js';
import type { FormField } from '../forms/page-form.js';
import { csvOf, PAGE_SIZE } from '../parts/lists.js';
import { choiceIn, pathWith, textIn, textsIn, type QueryValues } from '../paths.js';
import { RequestSearch, type FoundRequest } from '../requests/refused-requests.js';
import { OUTCOME_WORDS, requestColumns, requestLine } from './request-table.js';

/** `14:03`, `14:03:05`, `2026-11-26`, `2026-11-26 14:03:05`, or a time of ISO 8601 in UTC. */
const MOMENT = /^(?:(\d{4}-\d\d-\d\d)(?:[T ]|$))?(?:(\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?(?: ?(?:Z|UTC))?$/;

/** The times that bound a list, as the address of its page has them. */
interface PeriodTexts {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

interface RequestPeriod {
  readonly from: Date | undefined;
  /** The first moment after the period: it includes the whole day, minute or second that is written. */
  readonly to: Date | undefined;
  /** The same times, each with its day, so that a link means the same tomorrow. */
  readonly exact: PeriodTexts;
  /** A text that is no time. */
  readonly wrong: string | undefined;
}

/**
 * Reads times as people write them, in UTC. A time without a day is the latest such time, and the end of a period the first such
 * time after its beginning.
 */
export function periodIn({ from, to }: PeriodTexts, now: number): RequestPeriod {
  const begin = from === undefined ? undefined : writtenTime(from);
  const end = to === undefined ? undefined : writtenTime(to);
  const isWrong = (text: string | undefined, time: WrittenTime | undefined) => text !== undefined && time === undefined;
  const start = begin && (begin.day ?? latestDay(begin, now)) + begin.ofDayMs;
  const last = end && (end.day ?? (start === undefined ? latestDay(end, now) : dayAfter(end, start))) + end.ofDayMs;
  return {
    from: start === undefined ? undefined : new Date(start),
    to: last === undefined || end === undefined ? undefined : new Date(last + end.unitMs),
    exact: {
      from: start === undefined || begin?.day !== undefined ? from : textOf(start, begin),
      to: last === undefined || end?.day !== undefined ? to : textOf(last, end),
    },
    wrong: isWrong(from, begin) ? from : isWrong(to, end) ? to : undefined,
  };
}

interface WrittenTime {
  /** The start of the day. `undefined`: the text has no day. */
  readonly day: number | undefined;
  readonly ofDayMs: number;
  /** The length of the day, minute or second that is written. */
  readonly unitMs: number;
}

function writtenTime(text: string): WrittenTime | undefined {
  const [, day, hour, minute, second] = MOMENT.exec(text) ?? [];
  if (day === undefined && hour === undefined) return undefined;
  const start = day === undefined ? undefined : Date.parse(`${day}T00:00:00Z`);
  const ofDayMs = (Number(hour ?? 0) * 3_600 + Number(minute ?? 0) * 60 + Number(second ?? 0)) * 1_000;
  if (Number.isNaN(start) || ofDayMs >= DAY_MS) return undefined;
  return { day: start, ofDayMs, unitMs: hour === undefined ? DAY_MS : second === undefined ? MINUTE_MS : 1_000 };
}

function latestDay({ ofDayMs }: WrittenTime, now: number): number {
  const today = startOfDay(now);
  return today + ofDayMs > now ? today - DAY_MS : today;
}

function dayAfter({ ofDayMs, unitMs }: WrittenTime, start: number): number {
  const day = startOfDay(start);
  return day + ofDayMs + unitMs > start ? day : day + DAY_MS;
}

function textOf(moment: number, time: WrittenTime | undefined): string {
  const clock = new Date(moment).toISOString().slice(11, time?.unitMs === 1_000 ? 19 : 16);
  return `${utcDay(moment)} ${clock}`;
}

export function periodFields({ from, to }: PeriodTexts): readonly FormField[] {
  const common = {
    type: 'text',
    isOptional: true,
    maxLength: 30,
    placeholder: '14:03 or 2026-11-26 14:03:05',
  } as const;
  return [
    { label: 'From (UTC)', name: 'from', value: from, ...common },
    { label: 'To (UTC)', name: 'to', value: to, ...common },
  ];
}

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
