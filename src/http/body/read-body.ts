import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';
import { BodiesInFlight, type BodyHold } from './bodies-in-flight.js';
import { BodyParties } from './body-parties.js';
import { ReadingPace } from './reading-pace.js';

/** The time limit from the start of the reading to the last byte. At 1.2 Mbit/s, 4 MiB arrive in this time. */
const BODY_DEADLINE_MS = 30_000;
/**
 * The maximum number of chunks or packets. Each one costs processing time. A body that is written value by value has
 * several thousand.
 */
const MOST_PIECES = 10_000;

/** Receives the pieces of a body in order. */
export interface BodySink {
  /**
   * Adds the next piece.
   *
   * @throws {ServiceError} to refuse the body.
   */
  add(piece: Buffer): void;
}

/** Reads the bodies of requests. Limits the size and the time of each body, and the memory of all bodies together. */
@Injectable()
export class BodyReader {
  private readonly pace = new ReadingPace();

  constructor(
    private readonly bodies: BodiesInFlight,
    private readonly parties: BodyParties,
    private readonly shed: ShedLoad,
  ) {}

  /**
   * Reads a whole body, and holds its memory reservation until the response is closed. After a rejection the caller must
   * answer, and the rest of the body is not read.
   *
   * @returns the result of `finish`.
   * @throws {ServiceError} `payload_too_large` above `limitBytes`; `concurrency_limit_exceeded` or `unavailable` if the
   *   process holds too many bodies; `invalid_request` with status 408 if the body is too slow; and every error of `sink`
   *   or `finish`.
   */
  async read<T>(
    request: Request,
    response: Response,
    { limitBytes, sink, finish }: { limitBytes: number; sink: BodySink; finish: () => T | Promise<T> },
  ): Promise<T> {
    const declaredBytes = Number(request.headers['content-length'] ?? 0);
    if (declaredBytes > limitBytes) throw tooLarge(limitBytes);
    // The client disconnected before the reading began.
    if (request.destroyed) throw brokenOff();
    const expected = { bytes: declaredBytes, isHere: request.complete };
    const hold = this.bodies.begin(this.parties.partyOf(request), expected);
    try {
      await this.receive(request, hold, limitBytes, sink);
      hold.arrived();
      const result = await finish();
      if (response.closed) hold.release();
      else response.once('close', hold.release);
      return result;
    } catch (error) {
      hold.release();
      throw error;
    }
  }

  private receive(request: Request, hold: BodyHold, limitBytes: number, sink: BodySink): Promise<void> {
    return new Promise((resolve, reject) => {
      let length = 0;
      let pieces = 0;
      const settle = (error?: Error): void => {
        clearTimeout(deadline);
        request.off('data', take).off('end', settle).off('error', breakOff).off('close', breakOff);
        if (error === undefined) resolve();
        else reject(error);
      };
      const take = (piece: Buffer): void => {
        length += piece.length;
        pieces += 1;
        try {
          if (length > limitBytes) throw tooLarge(limitBytes);
          if (pieces > MOST_PIECES)
            throw new ServiceError('invalid_request', 'The body arrives in too many small pieces.');
          hold.add(piece.length);
          sink.add(piece);
          this.pace.count(request, piece.length);
        } catch (error) {
          settle(error as Error);
        }
      };
      const breakOff = (): void => {
        settle(brokenOff());
      };
      const deadline = request.complete
        ? undefined
        : setTimeout(() => {
            this.shed.note('slow_body');
            settle(tooSlow());
          }, BODY_DEADLINE_MS);
      request.on('data', take).on('end', settle).on('error', breakOff).on('close', breakOff);
    });
  }
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `The body must not be larger than ${limitBytes} bytes.`);
}

function brokenOff(): ServiceError {
  return new ServiceError('invalid_request', 'The body is incomplete.');
}

function tooSlow(): ServiceError {
  return new ServiceError('invalid_request', `The body must arrive within ${BODY_DEADLINE_MS / 1000} seconds.`, {
    status: 408,
    headers: { Connection: 'close' },
  });
}
