import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';
import { MOST_BODY_BYTES } from '../../config/limits/memory-limit.js';
import type { BodyParty } from './body-parties.js';

/** The minimum memory of an arriving body: its connection, its request and the buffers around it. */
const BYTES_PER_ARRIVING_BODY = 64 * 1024;
/** Bodies up to this size are refused last, so that large bodies cannot take the space of all others. */
const SMALL_BYTES = 64 * 1024;
const SHARE_OF_LARGE_BODIES = 0.75;
/** A share of the memory for all bodies. */
const SHARE_OF_ONE_PARTY = 0.5;

const PARTY_RETRY_SECONDS = 1;
const ALL_RETRY_SECONDS = 5;

/** The use of one party, or of all parties together. */
interface Use {
  arriving: number;
  bytes: number;
}

interface ExpectedBody {
  readonly bytes: number;
  readonly isHere: boolean;
}

/** The memory reservation of one body. */
export interface BodyHold {
  /**
   * Counts bytes that have arrived.
   *
   * @throws {ServiceError} if there is no room for the bytes. The caller must then release the body.
   */
  add(bytes: number): void;
  /** Tells that the whole body has arrived. */
  arrived(): void;
  /** Releases the memory of the body. Further calls have no effect. */
  release(): void;
}

/**
 * Counts the bodies that this process holds, per party and in total. A body counts from its first byte until its request
 * has been answered, because the values parsed from the body stay in memory until then. Above the limits, a body is refused
 * before the rest of it is read.
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
   * Reserves a place for a body.
   *
   * @param expected.bytes the size of the body, or 0 if the size is unknown.
   * @param expected.isHere whether the whole body has already arrived, so that nothing waits for the client.
   * @throws {ServiceError} `concurrency_limit_exceeded`, or `unavailable` if the process holds too many bodies in total.
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

  /**
   * Checks that there is room for `more` bytes.
   *
   * @param size the size of the body, including the `more` bytes.
   * @throws {ServiceError} if there is no room.
   */
  private check(party: BodyParty, use: Use, more: number, size: number): void {
    if (use.bytes + more > Math.min(party.mostBytes, this.mostBytes * SHARE_OF_ONE_PARTY)) throw this.partyIsFull();
    const share = size > SMALL_BYTES ? SHARE_OF_LARGE_BODIES : 1;
    if (this.all.bytes + more > this.mostBytes * share) throw this.allIsFull();
  }

  private partyIsFull(): ServiceError {
    this.shed.note('account_bodies');
    return new ServiceError('concurrency_limit_exceeded', 'Too many request bodies are being sent at the same time.', {
      retryAfterSeconds: PARTY_RETRY_SECONDS,
    });
  }

  private allIsFull(): ServiceError {
    this.shed.note('all_bodies');
    return new ServiceError(
      'unavailable',
      'The service is reading too many request bodies right now. Try again in a moment.',
      {
        retryAfterSeconds: ALL_RETRY_SECONDS,
      },
    );
  }
}
