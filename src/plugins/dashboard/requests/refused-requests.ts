import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { DAY_MS } from '../../../plugin-api/core/common.js';
import {
  deletePortion,
  engineOf,
  insertStatement,
  orUnavailable,
  pageByTime,
  queryRows,
  type TimePage,
  type TimePosition,
  mergedByTime,
} from '../../../plugin-api/core/database.js';
import {
  ledgerText,
  type RequestScopeFilter,
  scopeOf,
  type UsageClient,
  type ListedStream,
  RecentStreams,
  type StreamOutcome,
} from '../../../plugin-api/core/usage.js';

/** A request of a known caller that got an error and no usage record. It contains no text of the client, except the request id. */
export interface RefusedRequest {
  /** Sorts by time, as the id of a usage record. */
  readonly id: string;
  readonly requestId: string;
  /** The start of the request, in milliseconds since 1970. */
  readonly refusedAt: number;
  readonly accountId: string;
  readonly credential: UsageClient['credential'];
  readonly keyId: string | null;
  readonly keyPrefix: string | null;
  readonly method: string;
  /** The pattern of the path. `null`: the request matched no route. */
  readonly route: string | null;
  /** A model of the configuration. `null`: the request was refused before its body was read, or has another model. */
  readonly model: string | null;
  readonly status: number;
  readonly errorCode: string;
  /** The limit that has refused the request, or why its key is refused. */
  readonly reason: string | null;
  /** The message that the caller received, for errors whose message has no text of the caller. */
  readonly message: string | null;
  /** The number of similar requests that the sample left out, which this request stands for. */
  readonly similar: number;
}

/** Which refused requests a list has. */
interface RefusalFilter extends RequestScopeFilter {
  readonly from: Date;
  readonly to: Date;
  /** The list begins with the requests that began before this position. */
  readonly before?: TimePosition | undefined;
}

const MAX_ROWS = 100_000;
const MAX_AGE_MS = 7 * DAY_MS;

/** The column of each member. */
const COLUMNS = {
  id: 'id',
  requestId: 'request_id',
  refusedAt: 'refused_at',
  accountId: 'account_id',
  credential: 'credential',
  keyId: 'key_id',
  keyPrefix: 'key_prefix',
  method: 'method',
  route: 'route',
  model: 'model',
  status: 'status',
  errorCode: 'error_code',
  reason: 'reason',
  message: 'message',
  similar: 'similar_count',
} as const satisfies Record<keyof RefusedRequest, string>;
const MEMBERS = Object.keys(COLUMNS) as readonly (keyof RefusedRequest)[];

/** A row has the time as a text. */
type Row = {
  readonly [Name in keyof RefusedRequest as (typeof COLUMNS)[Name]]: Name extends 'refusedAt'
    ? string
    : RefusedRequest[Name];
};

/** The sample of refused requests in the database: the latest 100,000 of the last seven days. */
@Injectable()
export class RefusedRequests {
  constructor(private readonly database: DataSource) {}

  async append(requests: readonly RefusedRequest[]): Promise<void> {
    const columns = Object.values(COLUMNS);
    const statement = insertStatement(engineOf(this.database), 'refused_requests', columns, requests.length);
    const values = requests.flatMap((request) => MEMBERS.map((name) => storedValue(request, name)));
    await this.database.query(`${statement} ON CONFLICT (id) DO NOTHING`, values);
  }

  /**
   * Returns one page of the refused requests that pass the filter, the latest first: see {@link pageByTime}.
   *
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async list({ from, to, before, ...filter }: RefusalFilter, limit: number): Promise<TimePage<RefusedRequest>> {
    const period = { from: from.toISOString(), to: to.toISOString() };
    const list = { table: 'refused_requests', columns: '*', timeColumn: 'refused_at', ...scopeOf(filter), ...period };
    const { rows, next } = await pageByTime<Row>(this.database, list, before, limit);
    return { rows: rows.map(requestOf), next };
  }

  async find(id: string): Promise<RefusedRequest | undefined> {
    const sql = 'SELECT * FROM refused_requests WHERE id = :id';
    const [row] = await orUnavailable(queryRows<Row>(this.database, sql, { id: ledgerText(id) }));
    return row && requestOf(row);
  }

  /** Deletes a portion of the rows that are too old or too many. Returns whether there may be more. */
  async deleteSome(now: number): Promise<boolean> {
    const first = `SELECT refused_at FROM refused_requests ORDER BY refused_at DESC, id DESC LIMIT 1 OFFSET ${MAX_ROWS}`;
    const [surplus] = await queryRows<Pick<Row, 'refused_at'>>(this.database, first);
    const oldest = new Date(now - MAX_AGE_MS).toISOString();
    const until = surplus !== undefined && surplus.refused_at > oldest ? surplus.refused_at : oldest;
    return deletePortion(this.database, 'refused_requests', 'refused_at <= :until ORDER BY refused_at, id', { until });
  }
}

function storedValue(request: RefusedRequest, name: keyof RefusedRequest): string | number | null {
  if (name === 'refusedAt') return new Date(request.refusedAt).toISOString();
  return name === 'accountId' ? ledgerText(request.accountId) : request[name];
}

function requestOf(row: Row): RefusedRequest {
  const members = MEMBERS.map((name) => [name, row[COLUMNS[name]]] as const);
  return { ...(Object.fromEntries(members) as unknown as RefusedRequest), refusedAt: Date.parse(row.refused_at) };
}

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
