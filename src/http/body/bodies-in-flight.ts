import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';
import { MOST_BODY_BYTES } from '../../config/limits/memory-limit.js';
import type { BodyParty } from './body-parties.js';

/** What a body that is arriving costs at least: its connection, its request and the buffers around it. */
const BYTES_PER_ARRIVING_BODY = 64 * 1024;
/** Bodies up to this size are refused last: large bodies cannot take the place of all others. */
const SMALL_BYTES = 64 * 1024;
const SHARE_OF_LARGE_BODIES = 0.75;
/** Of the memory for all. */
const SHARE_OF_ONE_PARTY = 0.5;

const PARTY_RETRY_SECONDS = 1;
const ALL_RETRY_SECONDS = 5;

/** What one party holds, or all of them together. */
interface Use {
  arriving: number;
  bytes: number;
}

interface ExpectedBody {
  readonly bytes: number;
  readonly isHere: boolean;
}

/** The place of one body. */
export interface BodyHold {
  /**
   * Counts bytes that have arrived.
   *
   * @throws {ServiceError} when there is no room for them. The body must then be let go.
   */
  add(bytes: number): void;
  /** The whole body is there. */
  arrived(): void;
  /** The memory of the body is free again. Harmless when called again. */
  release(): void;
}

/**
 * Counts the bodies that this process holds, by party and in all. A body counts from its first byte until its request has been
 * answered, because what was made of it lives as long. Past the bounds, a body is refused before the rest of it is read.
 */
@Injectable()
export class BodiesInFlight {
  private readonly all: Use = { arriving: 0, bytes: 0 };
  private readonly parties = new Map<string, Use>();

  constructor(
    @Inject(MOST_BODY_BYTES) private readonly mostBytes: number,
    private readonly shed: ShedLoad,
  ) {}

  /**
   * @param expected.bytes the size of the body, where it is known; 0 where it is not.
   * @param expected.isHere the whole body has arrived already: it does not wait for its client.
   * @throws {ServiceError} `concurrency_limit_exceeded`, or `unavailable` when the process holds too much in all.
   */
  begin(party: BodyParty, { bytes, isHere }: ExpectedBody): BodyHold {
    const use = this.parties.get(party.key) ?? { arriving: 0, bytes: 0 };
    if (!isHere) {
      if (use.arriving >= party.mostArriving) throw this.partyIsFull();
      if (this.all.arriving >= this.mostBytes / BYTES_PER_ARRIVING_BODY) throw this.allIsFull();
    }
    this.check(party, use, bytes, bytes);
    this.parties.set(party.key, use);
    return this.hold(party, use, !isHere);
  }

  private hold(party: BodyParty, use: Use, waits: boolean): BodyHold {
    const { all } = this;
    let bytes = 0;
    let isArriving = waits;
    let isHeld = true;
    if (waits) {
      use.arriving += 1;
      all.arriving += 1;
    }
    const arrived = (): void => {
      if (!isArriving) return;
      isArriving = false;
      use.arriving -= 1;
      all.arriving -= 1;
    };
    return {
      arrived,
      add: (more) => {
        this.check(party, use, more, bytes + more);
        bytes += more;
        use.bytes += more;
        all.bytes += more;
      },
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        arrived();
        use.bytes -= bytes;
        all.bytes -= bytes;
        this.forget(party, use);
      },
    };
  }

  private forget({ key }: BodyParty, use: Use): void {
    if (use.arriving === 0 && use.bytes === 0 && this.parties.get(key) === use) this.parties.delete(key);
  }

  /** @param size of the body, with the `more` bytes that need room. */
  private check(party: BodyParty, use: Use, more: number, size: number): void {
    if (use.bytes + more > Math.min(party.mostBytes, this.mostBytes * SHARE_OF_ONE_PARTY)) throw this.partyIsFull();
    const share = size > SMALL_BYTES ? SHARE_OF_LARGE_BODIES : 1;
    if (this.all.bytes + more > this.mostBytes * share) throw this.allIsFull();
  }

  private partyIsFull(): ServiceError {
    this.shed.note('account_bodies');
    return new ServiceError('concurrency_limit_exceeded', 'Too many request bodies are being sent at once.', {
      retryAfterSeconds: PARTY_RETRY_SECONDS,
    });
  }

  private allIsFull(): ServiceError {
    this.shed.note('all_bodies');
    return new ServiceError(
      'unavailable',
      'The service holds too many request bodies right now. Try again in a moment.',
      {
        retryAfterSeconds: ALL_RETRY_SECONDS,
      },
    );
  }
}
