import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';
import { BodiesInFlight, type BodyReservation, BodyClients } from './bodies-in-flight.js';
import { Steps } from '../../common/event-loop/event-loop-turns.js';
import { startTimer } from '../../common/timers/pace.js';

/**
 * Pieces below this size are copied into one block, because each piece that Node delivers has an overhead of about 200
 * bytes.
 */
const SMALL_PIECE_BYTES = 4 * 1024;
const BLOCK_BYTES = 16 * 1024;

/**
 * The bytes of a body that have arrived so far. Uses little more memory than the bytes themselves, even if the pieces are
 * small.
 */
export class BodyBytes {
  private readonly blocks: Buffer[] = [];
  /** The block that collects small pieces. */
  private open: Buffer | undefined;
  private openLength = 0;

  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    // A short body usually arrives in one piece.
    if (piece.length >= SMALL_PIECE_BYTES || this.length === piece.length) {
      this.close();
      this.blocks.push(piece);
      return;
    }
    if (this.openLength + piece.length > BLOCK_BYTES) this.close();
    this.open ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    piece.copy(this.open, this.openLength);
    this.openLength += piece.length;
  }

  /** Returns all bytes in order. */
  whole(): Buffer {
    this.close();
    const [first] = this.blocks;
    return first !== undefined && this.blocks.length === 1 ? first : Buffer.concat(this.blocks);
  }

  /** The same, in steps: the copy of 32 MiB would stop all streams. */
  async wholeInSteps(): Promise<Buffer> {
    this.close();
    const whole = Buffer.allocUnsafeSlow(this.length);
    const steps = new Steps();
    let at = 0;
    for (const block of this.blocks) {
      at += block.copy(whole, at);
      if (steps.isOver) await steps.next();
    }
    return whole;
  }

  private close(): void {
    if (this.open !== undefined) this.blocks.push(this.open.subarray(0, this.openLength));
    this.open = undefined;
    this.openLength = 0;
  }
}

/** The time limit from the start of the reading to the last byte. At 1.2 Mbit/s, 4 MiB arrive in this time. */
const BODY_DEADLINE_MS = 30_000;
/**
 * The maximum number of chunks or packets. Each one costs processing time. A body that is written value by value has
 * several thousand.
 */
const MAX_PIECES = 10_000;
/** The bytes of a larger body are joined in steps. */
const VERY_LONG_BYTES = 4 * 1024 * 1024;

/** Reads the bodies of requests. Limits the size and the time of each body, and the memory of all bodies together. */
@Injectable()
export class BodyReader {
  private readonly pace = new ReadingPace();

  constructor(
    private readonly bodies: BodiesInFlight,
    private readonly clients: BodyClients,
    private readonly shed: ShedLoad,
  ) {}

  /**
   * Reads a whole body, and holds its memory reservation until the response is closed. After a rejection the caller must
   * respond, and the rest of the body is not read.
   *
   * @throws {ServiceError} `payload_too_large` above `maxBytes`; `concurrency_limit_exceeded` or `unavailable` if the
   *   process holds too many bodies; `invalid_request` with status 408 if the body is too slow.
   */
  async read(request: Request, response: Response, maxBytes: number): Promise<Buffer> {
    const declaredBytes = Number(request.headers['content-length'] ?? 0);
    if (declaredBytes > maxBytes) throw tooLarge(maxBytes);
    // The client disconnected before the reading began.
    if (request.destroyed) throw brokenOff();
    const expected = { bytes: declaredBytes, isHere: request.complete };
    const reservation = this.bodies.begin(this.clients.clientOf(request), expected);
    try {
      const bytes = await this.receive(request, reservation, maxBytes);
      reservation.arrived();
      if (response.closed) reservation.release();
      else response.once('close', reservation.release);
      return bytes;
    } catch (error) {
      reservation.release();
      throw error;
    }
  }

  private receive(request: Request, reservation: BodyReservation, maxBytes: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const bytes = new BodyBytes();
      let pieces = 0;
      const settle = (error?: Error): void => {
        clearTimeout(deadline);
        request.off('data', take).off('end', settle).off('error', breakOff).off('close', breakOff);
        if (error === undefined) resolve(bytes.length > VERY_LONG_BYTES ? bytes.wholeInSteps() : bytes.whole());
        else reject(error);
      };
      const take = (piece: Buffer): void => {
        pieces += 1;
        try {
          if (bytes.length + piece.length > maxBytes) throw tooLarge(maxBytes);
          if (pieces > MAX_PIECES)
            throw new ServiceError('invalid_request', 'The body arrives in too many small pieces.');
          reservation.add(piece.length);
          bytes.add(piece);
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
        : startTimer(() => {
            this.shed.count('slow_body');
            settle(tooSlow());
          }, BODY_DEADLINE_MS);
      request.on('data', take).on('end', settle).on('error', breakOff).on('close', breakOff);
    });
  }
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError('payload_too_large', `The body must not be larger than ${maxBytes} bytes.`);
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

/** The number of bytes read in one turn, for all requests together. Reading and measuring them takes some milliseconds. */
const BYTES_PER_TURN = 4 * 1024 * 1024;

/**
 * Divides each turn of the event loop between reading bodies and all other work. Without this limit, Node reads up to 2 MiB
 * per connection in one turn, for all connections that have sent data.
 */
export class ReadingPace {
  private bytesLeft = BYTES_PER_TURN;
  private waiting: IncomingMessage[] = [];
  private isCounting = false;

  /** Counts a piece. Must be called for each piece. Pauses the request until the next turn if this turn has read enough. */
  count(request: IncomingMessage, bytes: number): void {
    if (bytes < SMALL_PIECE_BYTES) return;
    this.bytesLeft -= bytes;
    if (!this.isCounting) {
      this.isCounting = true;
      setImmediate(() => {
        this.beginTurn();
      });
    }
    if (this.bytesLeft > 0) return;
    request.pause();
    this.waiting.push(request);
  }

  private beginTurn(): void {
    const { waiting } = this;
    this.isCounting = false;
    this.bytesLeft = BYTES_PER_TURN;
    this.waiting = [];
    for (const request of waiting) request.resume();
  }
}
