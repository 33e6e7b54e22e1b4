import type { RefusedRequest } from './refused-requests.js';

/** The number of requests of one kind in a minute that are kept one by one. */
const KEPT_PER_KIND = 5;
/** The number of kinds in a minute. Requests of further kinds are left out. */
const KINDS = 200;
const MINUTE_MS = 60_000;

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
