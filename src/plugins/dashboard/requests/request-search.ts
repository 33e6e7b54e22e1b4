import { Injectable } from '@nestjs/common';
import { mergedByTime, type TimePage, type TimePosition } from '../../../plugin-api/core/database.js';
import { type ListedStream, RecentStreams, type StreamOutcome } from '../../../plugin-api/core/usage.js';
import { type RefusalFilter, RefusedRequests, type RefusedRequest } from './refused-requests.js';

/** A request of any account: a stream with its usage record, or a refused request. */
export type FoundRequest =
  | { readonly kind: 'stream'; readonly stream: ListedStream }
  | { readonly kind: 'refused'; readonly refused: RefusedRequest };

interface RequestFilter extends RefusalFilter {
  /** Only streams whose last attempt was at this upstream. Refused requests have no upstream. */
  readonly upstream?: string | undefined;
  /** `refused` for refused requests only, or the outcomes of streams. `undefined`: all requests. */
  readonly outcomes?: 'refused' | readonly StreamOutcome[] | undefined;
}

/** Finds requests of all accounts, for operators. */
@Injectable()
export class RequestSearch {
  constructor(
    private readonly streams: RecentStreams,
    private readonly refused: RefusedRequests,
  ) {}

  /**
   * Returns one page of the requests, the latest first. A page can have fewer requests than `limit`, and even none, although there is a next page:
   * see `pageByTime`.
   *
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async list({ outcomes, upstream, ...filter }: RequestFilter, limit: number): Promise<TimePage<FoundRequest>> {
    const hasRefused = (outcomes === undefined || outcomes === 'refused') && upstream === undefined;
    const pages = await Promise.all([
      ...(outcomes === 'refused' ? [] : [this.streamPage({ ...filter, outcomes, upstream }, limit)]),
      ...(hasRefused ? [this.refusedPage(filter, limit)] : []),
    ]);
    return mergedByTime(pages, positionOf, limit);
  }

  private async streamPage(filter: Parameters<RecentStreams['list']>[0], limit: number) {
    const { rows, next } = await this.streams.list(filter, limit);
    return { rows: rows.map((stream) => ({ kind: 'stream', stream }) as const), next };
  }

  private async refusedPage(filter: RefusalFilter, limit: number) {
    const { rows, next } = await this.refused.list(filter, limit);
    return { rows: rows.map((refused) => ({ kind: 'refused', refused }) as const), next };
  }
}

function positionOf(request: FoundRequest): TimePosition {
  if (request.kind === 'stream') return { time: request.stream.started_at, id: request.stream.id };
  return { time: new Date(request.refused.refusedAt).toISOString(), id: request.refused.id };
}
