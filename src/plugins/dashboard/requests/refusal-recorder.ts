import { Inject, Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  type Clock,
  CLOCK,
  cutText,
  HourlyJobs,
  MINUTE_MS,
  startTimer,
  timeOrderedId,
} from '../../../plugin-api/core/common.js';
import { type Config, CONFIG, limitNameOf } from '../../../plugin-api/core/config.js';
import { DatabaseAvailability } from '../../../plugin-api/core/database.js';
import { type FinishedRequest, type RequestObserver, RequestWatch } from '../../../plugin-api/core/start.js';
import { RefusedRequests, type RefusedRequest } from './refused-requests.js';

/** The number of requests of one kind in a minute that are kept one by one. */
const KEPT_PER_KIND = 5;
/** The number of kinds in a minute. Requests of further kinds are left out. */
const KINDS = 200;

interface Kind {
  seen: number;
  /** The latest request that was left out. */
  last: RefusedRequest | undefined;
}

/**
 * Decides which refused requests are kept. Of each kind, which is the same key and the same error, the first five of a minute are
 * kept. The last request of the minute stands for all others. So a caller in a loop costs at most six rows a minute.
 */
export class RefusalSample {
  private readonly kinds = new Map<string, Kind>();
  private endsAt = -Infinity;

  /** Returns the requests to keep now: this one or none, after the last requests of a minute that is over. */
  add(request: RefusedRequest, now: number): readonly RefusedRequest[] {
    const ended = this.takeEnded(now);
    if (this.kinds.size === 0) this.endsAt = now + MINUTE_MS;
    const { accountId, keyId, errorCode, reason } = request;
    const key = JSON.stringify([accountId, keyId, errorCode, reason]);
    let kind = this.kinds.get(key);
    if (kind === undefined) {
      if (this.kinds.size >= KINDS) return ended;
      this.kinds.set(key, (kind = { seen: 0, last: undefined }));
    }
    kind.seen += 1;
    if (kind.seen <= KEPT_PER_KIND) return [...ended, request];
    kind.last = request;
    return ended;
  }

  /** Returns the last request of each kind if the minute is over. */
  takeEnded(now: number): readonly RefusedRequest[] {
    return now < this.endsAt ? [] : this.takeAll();
  }

  /** Ends the minute. Returns the last request of each kind of which requests were left out. */
  takeAll(): readonly RefusedRequest[] {
    const kept: RefusedRequest[] = [];
    for (const { seen, last } of this.kinds.values()) {
      if (last !== undefined) kept.push({ ...last, similar: seen - KEPT_PER_KIND - 1 });
    }
    this.kinds.clear();
    return kept;
  }

  /** Whether requests of this minute were left out, which {@link takeEnded} will return. */
  get hasMore(): boolean {
    return [...this.kinds.values()].some(({ last }) => last !== undefined);
  }
}

const WRITE_AFTER_MS = 500;
/** While the database is unavailable, the latest refused requests wait. */
const MAX_WAITING = 500;
const ROWS_PER_STATEMENT = 100;
const MESSAGE_LENGTH = 300;
/** These errors say that something does not exist. They refuse nothing. */
const NOT_THERE: readonly unknown[] = ['not_found', 'method_not_allowed'];

/**
 * Keeps a sample of the refused requests of known callers in the database, for operators. Requests do not wait for it, and
 * successful requests cost nothing.
 */
@Injectable()
export class RefusalRecorder implements RequestObserver, OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger('Refusals');
  private readonly sample = new RefusalSample();
  private waiting: RefusedRequest[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private isFailing = false;

  constructor(
    private readonly watch: RequestWatch,
    private readonly refused: RefusedRequests,
    private readonly availability: DatabaseAvailability,
    @Inject(CONFIG) private readonly config: Pick<Config, 'models'>,
    @Inject(CLOCK) private readonly now: Clock,
    jobs: HourlyJobs,
  ) {
    jobs.add('Deletes old refused requests', () => this.refused.deleteSome(this.now()));
  }

  onModuleInit(): void {
    this.watch.observe(this);
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    await this.flush();
  }

  finished(request: FinishedRequest): void {
    if (request.errorCode === undefined || request.record !== undefined || NOT_THERE.includes(request.errorCode))
      return;
    const refused = this.refusedRequest(request, request.errorCode);
    if (refused === undefined) return;
    this.enqueue(this.sample.add(refused, this.now()));
    if (this.waiting.length > 0 || this.sample.hasMore) this.timer ??= this.writeLater();
  }

  /** Ends the minute of the sample, and writes what waits. */
  async flush(): Promise<void> {
    this.enqueue(this.sample.takeAll());
    await this.write();
  }

  /** Writes what waits. Resolves when it is written, or when the database has refused it. */
  async write(): Promise<void> {
    this.writing = this.writing.then(() => this.writeAll());
    await this.writing;
  }

  private refusedRequest(request: FinishedRequest, errorCode: string): RefusedRequest | undefined {
    const { refusedKey, refusedBy, status, route, requestedModel } = request;
    const caller = callerOf(request);
    if (caller === undefined || status === undefined) return undefined;
    const refusedAt = Math.round(this.now() - request.durationMs);
    const isKnown = this.config.models.some(({ id }) => id === requestedModel);
    // Messages about the content of a request can have text of the caller.
    const message = status === 429 || status >= 500 ? request.errorMessage : undefined;
    return {
      ...caller,
      id: timeOrderedId(refusedAt),
      requestId: request.requestId,
      refusedAt,
      method: request.method,
      route: route ?? null,
      model: isKnown ? (requestedModel ?? null) : null,
      status,
      errorCode,
      reason: refusedKey?.reason ?? (refusedBy === undefined ? null : limitNameOf(refusedBy)),
      message: message === undefined ? null : cutText(message, MESSAGE_LENGTH),
      similar: 0,
    };
  }

  private enqueue(requests: readonly RefusedRequest[]): void {
    this.waiting.push(...requests);
    if (this.waiting.length > MAX_WAITING) this.waiting.splice(0, this.waiting.length - MAX_WAITING);
  }

  private writeLater(): NodeJS.Timeout {
    return startTimer(() => {
      this.timer = undefined;
      this.enqueue(this.sample.takeEnded(this.now()));
      void this.write().then(() => {
        if (this.waiting.length > 0 || this.sample.hasMore) this.timer ??= this.writeLater();
      });
    }, WRITE_AFTER_MS).unref();
  }

  private async writeAll(): Promise<void> {
    while (this.waiting.length > 0 && !this.availability.isUnavailable) {
      const some = this.waiting.splice(0, ROWS_PER_STATEMENT);
      try {
        await this.refused.append(some);
        this.isFailing = false;
      } catch (error) {
        // A sample may have gaps.
        if (!this.isFailing) this.logger.warn({ msg: 'Refused requests cannot be kept', reason: String(error) });
        this.isFailing = true;
        return;
      }
    }
  }
}

type Caller = Pick<RefusedRequest, 'accountId' | 'credential' | 'keyId' | 'keyPrefix'>;

/** The account and the credential. `undefined`: the caller is unknown. */
function callerOf({ principal, refusedKey }: FinishedRequest): Caller | undefined {
  if (principal !== undefined) {
    const { accountId, credential } = principal;
    if (credential.kind !== 'api_key') return { accountId, credential: credential.kind, keyId: null, keyPrefix: null };
    return { accountId, credential: 'api_key', keyId: credential.keyId, keyPrefix: credential.prefix };
  }
  if (refusedKey === undefined) return undefined;
  return {
    accountId: refusedKey.accountId,
    credential: 'api_key',
    keyId: refusedKey.keyId,
    keyPrefix: refusedKey.prefix,
  };
}
