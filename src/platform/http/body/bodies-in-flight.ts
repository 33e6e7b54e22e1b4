import { Inject, Injectable } from '@nestjs/common';
import { KeyedCount } from '../../common/counts/counters.js';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';
import { MAX_BODY_BYTES } from '../../config/limits/capacity.js';
import type { Request } from 'express';

/** The client that the bodies of a request are counted for: an account, or a network if there is no account. */
export interface BodyClient {
  /** The same for all requests of the client, and different for every other client. */
  readonly key: string;
  /** The maximum number of bodies of the client that arrive at the same time. */
  readonly maxArriving: number;
  /** The maximum number of body bytes held for the client. */
  readonly maxBytes: number;
}

/** Finds the client of a request. The class is the injection token. */
export abstract class BodyClients {
  abstract clientOf(request: Request): BodyClient;
}

/** The minimum memory of an arriving body: its connection, its request and the buffers around it. */
const BYTES_PER_ARRIVING_BODY = 64 * 1024;
/** Bodies up to this size are refused last, so that large bodies cannot take the space of all others. */
const SMALL_BYTES = 64 * 1024;
const SHARE_OF_LARGE_BODIES = 0.75;
/** A share of the memory for all bodies. */
const SHARE_OF_ONE_CLIENT = 0.5;

const CLIENT_RETRY_SECONDS = 1;
const ALL_RETRY_SECONDS = 5;

interface ExpectedBody {
  readonly bytes: number;
  readonly isHere: boolean;
}

/** The memory reservation of one body. */
export interface BodyReservation {
  /**
   * Counts bytes that have arrived.
   *
   * @throws {ServiceError} if there is no room for the bytes. The caller must then release the body.
   */
  add(bytes: number): void;
  /** Records that the whole body has arrived. */
  arrived(): void;
  /** Releases the memory of the body. Further calls have no effect. */
  release(): void;
}

/**
 * Counts the bodies that this process holds, per client and in total. A body counts from its first byte until its request
 * has its response, because the values parsed from the body stay in memory until then. Above the limits, a body is refused
 * before the rest of it is read. A reservation grows with the body, and never waits: therefore this is not a semaphore.
 */
@Injectable()
export class BodiesInFlight {
  private readonly arriving = new KeyedCount();
  private readonly bytes = new KeyedCount();

  constructor(
    @Inject(MAX_BODY_BYTES) private readonly maxBytes: number,
    private readonly shed: ShedLoad,
  ) {}

  /**
   * Begins the reservation of a body.
   *
   * @param expected.bytes the size of the body, or 0 if the size is unknown.
   * @param expected.isHere whether the whole body has already arrived, so that nothing waits for the client.
   * @throws {ServiceError} `concurrency_limit_exceeded`, or `unavailable` if the process holds too many bodies in total.
   */
  begin(client: BodyClient, { bytes, isHere }: ExpectedBody): BodyReservation {
    if (!isHere) {
      if (this.arriving.of(client.key) >= client.maxArriving) throw this.clientIsFull();
      if (this.arriving.total >= this.maxBytes / BYTES_PER_ARRIVING_BODY) throw this.allIsFull();
    }
    this.check(client, bytes, bytes);
    return this.reserve(client, isHere ? 0 : 1);
  }

  /** @param arriving 1 for a body that arrives, 0 for a body that is here. */
  private reserve(client: BodyClient, arriving: number): BodyReservation {
    let bytes = 0;
    this.arriving.add(client.key, arriving);
    const arrived = (): void => {
      this.arriving.add(client.key, -arriving);
      arriving = 0;
    };
    return {
      arrived,
      add: (more) => {
        this.check(client, more, bytes + more);
        bytes += more;
        this.bytes.add(client.key, more);
      },
      release: () => {
        arrived();
        this.bytes.add(client.key, -bytes);
        bytes = 0;
      },
    };
  }

  /**
   * Checks that there is room for `more` bytes.
   *
   * @param size the size of the body, including the `more` bytes.
   * @throws {ServiceError} if there is no room.
   */
  private check({ key, maxBytes }: BodyClient, more: number, size: number): void {
    if (this.bytes.of(key) + more > Math.min(maxBytes, this.maxBytes * SHARE_OF_ONE_CLIENT)) throw this.clientIsFull();
    const share = size > SMALL_BYTES ? SHARE_OF_LARGE_BODIES : 1;
    if (this.bytes.total + more > this.maxBytes * share) throw this.allIsFull();
  }

  private clientIsFull(): ServiceError {
    this.shed.count('account_bodies');
    return new ServiceError('concurrency_limit_exceeded', 'Too many request bodies are being sent at the same time.', {
      retryAfterSeconds: CLIENT_RETRY_SECONDS,
    });
  }

  private allIsFull(): ServiceError {
    this.shed.count('all_bodies');
    return new ServiceError(
      'unavailable',
      'The service is reading too many request bodies right now. Try again in a moment.',
      { retryAfterSeconds: ALL_RETRY_SECONDS },
    );
  }
}
