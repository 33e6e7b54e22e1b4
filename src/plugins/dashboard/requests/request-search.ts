import { Injectable } from '@nestjs/common';
import { mergedByTime, type TimePosition } from '../../../plugin-api/core/database.js';
import {
  type ListedStream,
  RecentStreams,
  type RequestScopeFilter,
  type StreamOutcome,
} from '../../../plugin-api/core/usage.js';
import { RefusedRequests, type RefusedRequest } from './refused-requests.js';

/** A request of any account: a stream with its usage record, or a refused request. */
export type FoundRequest =
  | { readonly kind: 'stream'; readonly stream: ListedStream }
  | { readonly kind: 'refused'; readonly refused: RefusedRequest };

interface RequestFilter extends RequestScopeFilter {
  readonly from: Date;
  readonly to: Date;
  /** Only streams whose last attempt was at this upstream. Refused requests have no upstream. */
  readonly upstream?: string | undefined;
  /** `refused` for refused requests only, or the outcomes of streams. `undefined`: all requests. */
  readonly outcomes?: 'refused' | readonly StreamOutcome[] | undefined;
  /** The list begins with the requests that began before this position. */
  readonly before?: TimePosition | undefined;
}

export interface FoundRequests {
  /** The latest first. */
  readonly requests: readonly FoundRequest[];
  /** The position after which the next page begins. `undefined` on the last page. */
  readonly next: TimePosition | undefined;
}

/** Finds requests of all accounts, for operators. */
@Injectable()
export class RequestSearch {
  constructor(
    private readonly streams: RecentStreams,
    private readonly refused: RefusedRequests,
  ) {}

  /**
   * Returns one page of the requests. A page can have fewer requests than `limit`, and even none, although there is a next page:
   * see `pageByTime`.
   *
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async list(filter: RequestFilter, limit: number): Promise<FoundRequests> {
    const { outcomes, upstream } = filter;
    const hasRefused = (outcomes === undefined || outcomes === 'refused') && upstream === undefined;
    const pages = await Promise.all([
      ...(outcomes === 'refused' ? [] : [this.streamPage(filter, outcomes, limit)]),
      ...(hasRefused ? [this.refusedPage(filter, limit)] : []),
    ]);
    const { rows, next } = mergedByTime(pages, positionOf, limit);
    return { requests: rows, next };
  }

  private async streamPage(filter: RequestFilter, outcomes: readonly StreamOutcome[] | undefined, limit: number) {
    const { streams, next } = await this.streams.listOfAll({ ...filter, outcomes }, limit);
    return { rows: streams.map((stream) => ({ kind: 'stream', stream }) as const), next };
  }

  private async refusedPage({ from, to, before, ...scope }: RequestFilter, limit: number) {
    const { rows, next } = await this.refused.list({ from, to }, scope, before, limit);
    return { rows: rows.map((refused) => ({ kind: 'refused', refused }) as const), next };
  }
}

function positionOf(request: FoundRequest): TimePosition {
  if (request.kind === 'stream') return { time: request.stream.started_at, id: request.stream.id };
  return { time: new Date(request.refused.refusedAt).toISOString(), id: request.refused.id };
}
